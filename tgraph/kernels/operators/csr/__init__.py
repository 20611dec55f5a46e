"""Operators on the arrays of rows."""
