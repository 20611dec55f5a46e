"""A graph of groups of vertices, as the steps that move vertices between communities are given it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tgraph.core.building import soundness
from tgraph.core.graph import Graph


@dataclass(frozen=True, eq=False)
class Quotient:
    """Arcs both ways between groups of vertices, and what each group brings to the null model of modularity.

    offset, neighbors, weights : rows with the weight of each arc, float64 [m], or None where all are 1.
    out_strength : float64 [n], the weight of the arcs that leave the vertices of a group, inner ones included.
    in_strength : that of those which lead to them, or None in an undirected graph.
    total : the sum of out_strength.

    Weights are multiples of a power of two of which no more than 2^53 occur in all, so that sums are exact.
    """

    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None
    out_strength: Tensor
    in_strength: Tensor | None
    total: float

    def ensure_valid(self) -> None:
        """See `tgraph.core.building.soundness`."""
        soundness.ensure_sound(self.offset, self.neighbors, self.num_vertices)

    @property
    def num_vertices(self) -> int:
        """The groups."""
        return len(self.offset) - 1


class SpreadQuotient(Quotient):
    """That of a graph which is spread over processes, each vertex a group: `graph` has the arcs both ways, whose
    weights count where these are `weighted`, and vertex data is that of all processes. `offset`, `neighbors` and
    `weights` raise LayoutError: no process has all arcs."""

    graph: Graph
    weighted: bool

    def __init__(self, graph: Graph, weighted: bool, out_strength: Tensor, in_strength: Tensor | None, total: float):
        given = {"graph": graph, "weighted": weighted, "out_strength": out_strength}
        self.__dict__.update(given, in_strength=in_strength, total=total)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["graph"], name)

    def ensure_valid(self) -> None:
        """Nothing: a layout was checked when it was made."""

    @property
    def num_vertices(self) -> int:
        """The vertices."""
        return self.graph.num_vertices


@dataclass(frozen=True)
class Moves:
    """How vertices move: `scale` is the resolution over the total weight; `key` that of the random numbers; at most so
    many `sweeps`, each of so many `batches`, until at most the share `tolerance` of the vertices moves in one. A vertex
    is visited again once more than the `stirred_share` of its arcs lead to vertices that moved."""

    scale: float
    key: int
    sweeps: int
    batches: int
    tolerance: float
    stirred_share: float = 0.0
