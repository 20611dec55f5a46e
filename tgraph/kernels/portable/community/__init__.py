"""Communities in torch operators."""
