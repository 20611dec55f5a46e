"""Calls of the compiled power iterations; the C++ lies beside."""
