"""Rows compressed with virtual vertices."""
