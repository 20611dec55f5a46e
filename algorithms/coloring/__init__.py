"""Colourings: neighbours get different colours."""

from tgraph.algorithms.coloring.bipartite import bipartite_color, is_bipartite, odd_cycle
from tgraph.algorithms.coloring.greedy import greedy_color

__all__ = ["bipartite_color", "greedy_color", "is_bipartite", "odd_cycle"]
