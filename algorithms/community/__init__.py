"""Communities: groups of vertices with more edges among them than between them."""

from tgraph.algorithms.community.cdlp import cdlp

__all__ = [
    "cdlp",
]
