"""Aggregation with gradients, and the rows of a rank as a graph of its own."""
