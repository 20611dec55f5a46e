"""Sampling of neighbours in torch operators."""
