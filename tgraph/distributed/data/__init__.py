"""Vertex data that is spread over ranks, and the operators on it."""
