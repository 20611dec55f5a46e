"""Centralities: how important each vertex is."""

from tgraph.algorithms.centrality.betweenness import betweenness
from tgraph.algorithms.centrality.hits import HITS, hits
from tgraph.algorithms.centrality.pagerank import PageRank, PlainPageRank, pagerank

__all__ = [
    "HITS",
    "PageRank",
    "PlainPageRank",
    "betweenness",
    "hits",
    "pagerank",
]
