"""Matching by compiled kernels."""
