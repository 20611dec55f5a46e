"""Sets of vertices and of edges that do not touch."""
