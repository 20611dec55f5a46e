"""Aggregation along arcs, and its gradients."""
