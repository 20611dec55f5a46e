"""Partitioning a graph, and renumbering its vertices so that each part is contiguous."""
