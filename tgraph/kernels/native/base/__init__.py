"""Calls of the compiled kernels on the values of vertices and on memory; the C++ lies beside."""
