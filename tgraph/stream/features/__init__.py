"""Vertex features in files: aggregation, row-wise functions and permutation within a memory budget."""
