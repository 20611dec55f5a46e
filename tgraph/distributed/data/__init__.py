"""Vertex data sharded over ranks, and the operators on it."""
