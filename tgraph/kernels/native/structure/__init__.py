"""Arcs as vertices, mutual arcs and correlations along arcs by compiled kernels."""
