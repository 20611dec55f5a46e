"""Spanning forests."""
