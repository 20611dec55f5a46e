"""Colourings by compiled kernels."""
