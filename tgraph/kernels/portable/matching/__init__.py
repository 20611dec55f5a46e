"""Matching in torch operators."""
