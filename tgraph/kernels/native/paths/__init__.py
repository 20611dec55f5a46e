"""Calls of the compiled kernels of shortest paths; the C++ lies beside."""
