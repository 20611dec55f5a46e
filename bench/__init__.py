"""Comparisons with other systems. `python -m bench.analytics` compares graph analytics."""
