"""Similarity of vertices by their neighbours, and the links that it predicts."""

from tgraph.algorithms.similarity.links import (
    adamic_adar,
    common_neighbors,
    preferential_attachment,
    resource_allocation,
)
from tgraph.algorithms.similarity.measures import cosine, jaccard, overlap, sorensen
from tgraph.algorithms.similarity.nearest import most_similar
from tgraph.algorithms.similarity.simrank import approximate_simrank, simrank

__all__ = [
    "adamic_adar",
    "approximate_simrank",
    "common_neighbors",
    "cosine",
    "jaccard",
    "most_similar",
    "overlap",
    "preferential_attachment",
    "resource_allocation",
    "simrank",
    "sorensen",
]
