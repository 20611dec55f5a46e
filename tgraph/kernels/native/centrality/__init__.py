"""Calls of the compiled kernels of centralities: shortest paths counted and accumulated; the C++ lies beside."""
