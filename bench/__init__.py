"""Comparisons with other systems. `python -m bench.analytics` runs graph analytics beside its peers."""
