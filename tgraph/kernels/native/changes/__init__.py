"""Calls of the compiled kernels for changes of a graph; the C++ lies beside."""
