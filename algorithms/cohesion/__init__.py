"""Cohesion: triangles, cliques, cores."""

from tgraph.algorithms.cohesion.clustering import local_clustering
from tgraph.algorithms.cohesion.cores import core_number
from tgraph.algorithms.cohesion.triangles import triangle_count

__all__ = [
    "core_number",
    "local_clustering",
    "triangle_count",
]
