"""Calls of the compiled kernels on points; the C++ lies beside."""
