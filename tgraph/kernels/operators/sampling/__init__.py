"""Sampling of neighbours."""
