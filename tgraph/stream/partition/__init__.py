"""Cutting a graph into parts, and renumbering its vertices so that each part is contiguous."""
