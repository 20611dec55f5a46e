"""Calls of the compiled kernels of flows; the C++ lies beside."""
