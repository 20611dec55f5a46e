"""Triangles and squares by compiled kernels."""
