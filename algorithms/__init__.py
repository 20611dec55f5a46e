"""Graph algorithms, each one short file on the public API of tgraph, the way a user would write it."""

from tgraph.algorithms.betweenness import betweenness
from tgraph.algorithms.bfs import BFS, bfs
from tgraph.algorithms.cdlp import cdlp
from tgraph.algorithms.clustering import local_clustering
from tgraph.algorithms.cores import core_number
from tgraph.algorithms.hits import HITS, hits
from tgraph.algorithms.pagerank import PageRank, PlainPageRank, pagerank
from tgraph.algorithms.sssp import SSSP, sssp
from tgraph.algorithms.triangles import triangle_count
from tgraph.algorithms.wcc import WCC, PlainWCC, wcc

__all__ = [
    "BFS",
    "HITS",
    "SSSP",
    "WCC",
    "PageRank",
    "PlainPageRank",
    "PlainWCC",
    "betweenness",
    "bfs",
    "cdlp",
    "core_number",
    "hits",
    "local_clustering",
    "pagerank",
    "sssp",
    "triangle_count",
    "wcc",
]
