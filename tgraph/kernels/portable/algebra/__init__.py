"""Products of sparse matrices in torch operators."""
