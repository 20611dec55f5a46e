"""Searches in torch operators."""
