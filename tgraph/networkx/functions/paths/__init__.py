"""Shortest and other paths, and distances."""
