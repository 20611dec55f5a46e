"""Shortest paths counted and accumulated in torch operators."""
