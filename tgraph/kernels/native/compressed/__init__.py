"""Calls of the compiled kernels of compressed rows; the C++ lies beside."""
