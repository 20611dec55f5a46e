"""Embeddings: vertices as points."""

from tgraph.algorithms.embeddings.node2vec import node2vec
from tgraph.algorithms.embeddings.spectral import spectral_embedding

__all__ = [
    "node2vec",
    "spectral_embedding",
]
