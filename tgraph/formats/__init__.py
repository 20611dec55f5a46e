"""Layouts of an adjacency: one graph, many ways to store its arcs, the same answers."""
