"""Calls of the compiled kernels of attention and edges; the C++ lies beside."""
