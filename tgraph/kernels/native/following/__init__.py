"""Calls of the compiled kernels that follow a graph that changes; the C++ lies beside."""
