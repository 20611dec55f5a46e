"""Graph algorithms in torch operators."""
