"""Random walks in torch operators."""
