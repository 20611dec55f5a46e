"""Shortest paths counted and accumulated."""
