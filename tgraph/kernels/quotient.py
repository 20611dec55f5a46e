"""A graph of groups of vertices, as the steps that move vertices between communities are given it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from tgraph.core.building import soundness


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
