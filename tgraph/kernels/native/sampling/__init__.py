"""Calls of the compiled samplers; the C++ lies beside."""
