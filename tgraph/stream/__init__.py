"""Graphs that are larger than the memory: parts of their arcs, read one after the other."""
