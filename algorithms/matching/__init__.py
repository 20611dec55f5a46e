"""Matchings: edges no two of which share a vertex."""

from tgraph.algorithms.matching.bipartite import maximum_bipartite_matching, minimum_vertex_cover
from tgraph.algorithms.matching.greedy import heavy_matching, matching_weight, maximal_matching

__all__ = [
    "heavy_matching",
    "matching_weight",
    "maximal_matching",
    "maximum_bipartite_matching",
    "minimum_vertex_cover",
]
