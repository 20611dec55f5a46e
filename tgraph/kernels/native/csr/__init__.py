"""Calls of the compiled kernels that build, transpose and check rows of CSR; their C++ is in this folder."""
