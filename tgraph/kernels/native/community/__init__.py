"""Calls of the compiled kernels that move vertices between communities; the C++ lies beside."""
