"""Searches and shortest paths."""

from tgraph.algorithms.paths.bfs import BFS, bfs
from tgraph.algorithms.paths.sssp import SSSP, sssp

__all__ = [
    "BFS",
    "SSSP",
    "bfs",
    "sssp",
]
