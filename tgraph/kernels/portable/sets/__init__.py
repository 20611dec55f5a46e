"""Sets in torch operators."""
