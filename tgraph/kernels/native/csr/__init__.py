"""Calls of the compiled kernels that build, transpose and check rows of CSR; the C++ lies beside."""
