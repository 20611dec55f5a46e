"""Centralities: how important each vertex is."""

from tgraph.algorithms.centrality.approximate import approximate_betweenness
from tgraph.algorithms.centrality.betweenness import betweenness
from tgraph.algorithms.centrality.closeness import closeness, harmonic
from tgraph.algorithms.centrality.current_flow import (
    current_flow_betweenness,
    current_flow_closeness,
    edge_current_flow_betweenness,
    information,
)
from tgraph.algorithms.centrality.degree import degree_centrality
from tgraph.algorithms.centrality.edge_betweenness import edge_betweenness
from tgraph.algorithms.centrality.eigenvector import Eigenvector, eigenvector
from tgraph.algorithms.centrality.hits import HITS, hits
from tgraph.algorithms.centrality.katz import Katz, katz
from tgraph.algorithms.centrality.laplacian import laplacian_centrality
from tgraph.algorithms.centrality.load import load
from tgraph.algorithms.centrality.pagerank import PageRank, PlainPageRank, pagerank
from tgraph.algorithms.centrality.percolation import percolation
from tgraph.algorithms.centrality.subgraph import subgraph_centrality

__all__ = [
    "HITS",
    "Eigenvector",
    "Katz",
    "PageRank",
    "PlainPageRank",
    "approximate_betweenness",
    "betweenness",
    "closeness",
    "current_flow_betweenness",
    "current_flow_closeness",
    "degree_centrality",
    "edge_betweenness",
    "edge_current_flow_betweenness",
    "eigenvector",
    "harmonic",
    "hits",
    "information",
    "katz",
    "laplacian_centrality",
    "load",
    "pagerank",
    "percolation",
    "subgraph_centrality",
]
