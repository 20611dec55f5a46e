"""Cliques by compiled kernels."""
