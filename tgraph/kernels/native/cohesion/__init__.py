"""Cohesion by compiled kernels."""
