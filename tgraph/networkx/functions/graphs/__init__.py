"""Graphs made, combined and converted."""
