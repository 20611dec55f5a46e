"""Calls of the compiled kernels that reduce over arcs; the C++ lies beside."""
