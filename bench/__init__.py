"""Comparisons with other systems. `python -m bench.analytics` compares graph analytics.

All scripts share their options (command), turns (measure), processes, and tables (results).
"""
