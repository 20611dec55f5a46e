"""Centralities: how important each vertex is."""

from tgraph.algorithms.centrality.betweenness import betweenness
from tgraph.algorithms.centrality.closeness import closeness, harmonic
from tgraph.algorithms.centrality.degree import degree_centrality
from tgraph.algorithms.centrality.eigenvector import Eigenvector, eigenvector
from tgraph.algorithms.centrality.hits import HITS, hits
from tgraph.algorithms.centrality.katz import Katz, katz
from tgraph.algorithms.centrality.laplacian import laplacian_centrality
from tgraph.algorithms.centrality.pagerank import PageRank, PlainPageRank, pagerank
from tgraph.algorithms.centrality.subgraph import subgraph_centrality

__all__ = [
    "HITS",
    "Eigenvector",
    "Katz",
    "PageRank",
    "PlainPageRank",
    "betweenness",
    "closeness",
    "degree_centrality",
    "eigenvector",
    "harmonic",
    "hits",
    "katz",
    "laplacian_centrality",
    "pagerank",
    "subgraph_centrality",
]
