"""Calls of the compiled kernels of graph algorithms; the C++ lies beside."""
