"""Calls of the compiled kernels of components; the C++ lies beside."""
