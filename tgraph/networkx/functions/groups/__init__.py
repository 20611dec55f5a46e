"""Groups of nodes: components, communities, cuts, trees, and the likeness of pairs."""
