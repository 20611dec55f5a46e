"""Flows in torch operators."""
