"""Shortest distances within a part of a graph, in buckets, while other parts are relaxed elsewhere."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from tgraph.core.dispatch import optional_operator
from tgraph.core.graph import Graph


class Buckets(Protocol):
    """Delta-stepping (Meyer and Sanders 2003) over k vertices and their arcs, some of them to h mirrors, whose
    improvements are for others to relax. Bucket b is that of values in [b * delta, (b + 1) * delta) everywhere; none is
    the number 2^63 - 1."""

    def queue(self, vertices: Tensor) -> None:
        """Add vertices, int64 [j], that are to be relaxed."""
        ...

    def receive(self, vertices: Tensor, messages: Tensor) -> None:
        """Improve vertices, int64 [j], repeated ones too, by messages [j]; those that improve are queued."""
        ...

    def run(self, end: int) -> tuple[int, int]:
        """Relax, in the order of buckets, until none before `end` has vertices: (vertices relaxed, their arcs)."""
        ...

    def reached(self) -> tuple[Tensor, Tensor, int]:
        """The mirrors that improved since the last call, int64 [j] ascending, counted from 0, their values [j], and the
        first bucket of these."""
        ...

    def next_bucket(self) -> int:
        """A bucket before which no vertex is queued."""
        ...

    def queued(self) -> Tensor:
        """The mask of the vertices that have values to be sent, bool [k]."""
        ...


@optional_operator
def part_buckets(inside: Graph, outside: Graph, values: Tensor, delta: float) -> Buckets:
    """The buckets of `values` [k + h], which are overwritten: an operator that no backend needs to have.

    inside, outside : the weighted arcs among the vertices, and those to mirrors, a graph of k + h vertices.
    """
    raise NotImplementedError
