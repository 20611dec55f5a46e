"""Graphs that change, measured beside other systems: `python -m bench.dynamic`."""
