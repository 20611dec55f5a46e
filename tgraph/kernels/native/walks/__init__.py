"""Calls of the compiled random walks; the C++ lies beside."""
