"""Random walks."""

from tgraph.algorithms.walks.random_walks import node2vec_walks, random_walks, walks_with_restart

__all__ = [
    "node2vec_walks",
    "random_walks",
    "walks_with_restart",
]
