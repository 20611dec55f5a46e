"""Values that only improve along the arcs, after batches that insert and delete, for relaxations and components (Vora,
Gupta and Xu, "KickStarter: fast and accurate computations on streaming graphs via trimmed approximations", ASPLOS 2017;
the kernel is `tgraph/kernels/native/following/settle.cpp`).

A batch that worsens no arc restarts from the ends of its arcs. One that deletes arcs, or worsens weights, needs for
each vertex the neighbour that its value depends on: the first such batch finds these over all arcs, and they are
maintained from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic.following.follower import LEAST, SHARE, Follower, FromNothing, with_room
from tgraph.dynamic.following.graph import FollowedGraph
from tgraph.dynamic.runs import Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.kernels import following

Semiring = tuple[str, str, "float | None"]  # reduction, edge operation, and the weight of all arcs


class Monotone(Follower):
    """Base of followers by a semiring; a subclass gives the first values and the semiring."""

    both_ways = False  # whether messages go against the arcs, too

    def __init__(self, store: Store):
        super().__init__(store)
        self._value = self._first = torch.empty(0)  # [n and more]
        self._forest: tuple[Tensor, Tensor] | None = None
        self._scratch: Any = None

    def _begin(self, graph: Graph) -> tuple[Tensor, Tensor, Semiring]:
        """The values of a graph from nothing, the first values, both [n], and the semiring."""
        raise NotImplementedError

    def _new_first_values(self, begin: int, end: int) -> Tensor:
        """The first values of new vertices begin..end - 1. Raises FromNothing where those of others change."""
        raise NotImplementedError

    def _check(self, weights: Tensor) -> None:
        """Raise FromNothing for new weights that only a computation from nothing can judge."""

    @property
    def _trims(self) -> bool:
        """Whether a message is never better than the value that it comes from."""
        return True

    def _compute(self, version: Version, graph: Graph) -> None:
        self._arcs = self._forest = None
        value, self._first, self._semiring = self._begin(graph)
        self._value, self._n = value.contiguous(), graph.num_vertices
        self._refresh(None)
        weighted = self._semiring[1] != "copy" and self._semiring[2] is None
        counts = weighted and self._store.multi == "sum"  # a message depends on the sums
        self._arcs = FollowedGraph(version, self._store.directed, weighted, counts)
        self._scratch = following.settle_scratch()

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        arcs = self._arcs
        assert arcs is not None
        self._grow(version.num_vertices)
        report = arcs.advance(version, runs, compares=arcs.weighted and self._forest is None)
        if arcs.weighted:
            self._check(arcs.new_weights(runs, report))
        if not self._trims:
            raise FromNothing("messages may be better than the values that they come from")
        plants = self._forest is None and bool((report.worse & self._bit).any())
        if plants:
            size = len(self._value)
            self._forest = torch.empty(size, dtype=torch.int32), torch.empty(size, dtype=torch.int32)
        backward = arcs.reversed() if self._forest is not None or (self.both_ways and arcs.directed) else None
        status, touched = following.settle(
            self._scratch,
            arcs.rows,
            backward,
            report.pair,
            self._value,
            self._first,
            self._forest,
            self._semiring,
            num_vertices=self._n,
            both_ways=self.both_ways and arcs.directed,
            limit=max(len(version.base.neighbors) // SHARE, LEAST),
            plants=plants,
        )
        if status != following.DONE:
            raise FromNothing("many values changed" if status == following.TOO_MUCH else "a value does not fit")
        self._refresh(touched)
        return len(touched)

    @property
    def _bit(self) -> int:
        reduce, edge, _ = self._semiring
        if edge == "mul":
            return following.FOR_ANY
        return following.FOR_MIN if reduce == "min" else following.FOR_MAX

    def _grow(self, n: int) -> None:
        if n == self._n:
            return
        first = self._new_first_values(self._n, n)
        self._value, self._first = with_room(self._value, n), with_room(self._first, n)
        self._first[self._n : n] = self._value[self._n : n] = first
        if self._forest is not None:
            self._forest = (with_room(self._forest[0], n), with_room(self._forest[1], n))
            self._forest[0][self._n : n], self._forest[1][self._n : n] = -1, 0
        self._n = n

    def _refresh(self, touched: Tensor | None) -> None:
        """Update the finished values, at these vertices, None for all."""

    def _finished(self) -> Any:
        return self._value[: self._n]

    def _nbytes(self) -> int:
        forest = () if self._forest is None else self._forest
        return sum(tensor.nbytes for tensor in (self._value, self._first, *forest))
