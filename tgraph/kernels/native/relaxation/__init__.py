"""Calls of the compiled relaxations; the C++ lies beside."""
