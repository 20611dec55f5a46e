"""Colourings."""
