"""Components: which vertices are joined."""

from tgraph.algorithms.components.wcc import WCC, PlainWCC, wcc

__all__ = [
    "WCC",
    "PlainWCC",
    "wcc",
]
