"""Trees by compiled kernels."""
