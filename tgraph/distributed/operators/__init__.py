"""Implementations of operators over the parts of all ranks."""
