"""Graphs that change, in a folder: a log of batches, and checkpoints of what they made of the graph."""
