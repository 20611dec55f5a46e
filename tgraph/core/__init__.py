"""Graphs as tensors: CSR, sets of vertices, ids, and how they are built and checked."""
