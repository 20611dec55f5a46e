"""Searches and shortest paths."""

from tgraph.algorithms.paths.all_pairs import all_pairs
from tgraph.algorithms.paths.bellman_ford import bellman_ford, negative_cycle
from tgraph.algorithms.paths.bfs import BFS, bfs
from tgraph.algorithms.paths.floyd_warshall import floyd_warshall
from tgraph.algorithms.paths.k_shortest_paths import k_shortest_paths
from tgraph.algorithms.paths.predecessors import predecessors
from tgraph.algorithms.paths.shortest_path import astar_path, shortest_path, shortest_path_length
from tgraph.algorithms.paths.soft_shortest_paths import SoftShortestPaths, soft_shortest_paths
from tgraph.algorithms.paths.sssp import SSSP, sssp
from tgraph.algorithms.paths.widest_path import WidestPath, widest_path

__all__ = [
    "BFS",
    "SSSP",
    "SoftShortestPaths",
    "WidestPath",
    "all_pairs",
    "astar_path",
    "bellman_ford",
    "bfs",
    "floyd_warshall",
    "k_shortest_paths",
    "negative_cycle",
    "predecessors",
    "shortest_path",
    "shortest_path_length",
    "soft_shortest_paths",
    "sssp",
    "widest_path",
]
