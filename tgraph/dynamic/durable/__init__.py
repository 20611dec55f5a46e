"""Graphs that change, in a folder: a log of batches, and checkpoints of the graph."""
