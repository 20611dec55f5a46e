"""Sets by compiled kernels."""
