"""Trees in torch operators."""
