"""Components: which vertices are joined, and how firmly."""

from tgraph.algorithms.components.biconnected import (
    articulation_points,
    biconnected_components,
    biconnected_edges,
    bridges,
)
from tgraph.algorithms.components.scc import attracting_components, condensation, scc
from tgraph.algorithms.components.wcc import WCC, PlainWCC, wcc

__all__ = [
    "WCC",
    "PlainWCC",
    "articulation_points",
    "attracting_components",
    "biconnected_components",
    "biconnected_edges",
    "bridges",
    "condensation",
    "scc",
    "wcc",
]
