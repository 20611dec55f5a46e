"""Calls of the compiled kernels of components, orders and colourings; the C++ lies beside."""
