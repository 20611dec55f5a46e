"""Delta-stepping: the order of vertices in a relaxation."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier, Vertices
from tgraph.core.rows import Scratch
from tgraph.errors import ArgumentError


def check_delta(delta: float) -> None:
    """Raise ArgumentError for a bucket width that is not positive."""
    if not delta > 0:
        raise ArgumentError(f"delta: must be positive, got {delta}")


class NearFar:
    """Relax in the order of buckets of width delta: near vertices now, far ones when the near are exhausted.

    A two-bucket form of delta-stepping (Meyer and Sanders 2003; Davidson, Baxter, Garland, Owens 2014). Entries of the
    far pile that have since moved below the threshold are stale: they were near at that time.
    """

    dtype: torch.dtype
    scratch: Scratch

    def __init__(self, delta: float, dtype: torch.dtype, scratch: Scratch):
        check_delta(delta)
        limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        self._largest = limits.max
        self.delta: float | int = delta if dtype.is_floating_point else max(1, round(min(delta, self._largest)))
        self.dtype, self.scratch = dtype, scratch
        self.threshold = -math.inf if dtype.is_floating_point else limits.min
        self._far: list[Tensor] = []

    def next(self, values: Tensor, changed: Frontier) -> Frontier:
        """The vertices to relax next, given the frontier of `changed` ones; empty when nothing is left."""
        close = self.near(values, changed)
        return close if len(close) else self.open(values, changed.graph, self.lowest(values))

    def near(self, values: Tensor, changed: Frontier) -> Frontier:
        """The `changed` vertices in the present bucket; the others join the far pile."""
        close, far = Frontier.split(changed.graph, changed.ids, values.index_select(0, changed.ids) < self.threshold)
        if len(far):
            self._far.append(far)
        return close

    def with_far(self, near: Frontier) -> Frontier:
        """All vertices with unsent messages: the `near` ones, and the far pile."""
        return near.graph.select(torch.cat([near.ids, *self._far])) if self._far else near

    def lowest(self, values: Tensor) -> Tensor | None:
        """The smallest value of the far pile, [], or None if it is empty."""
        if not self._far:
            return None
        pile = torch.cat(self._far)
        pile = pile[values.index_select(0, pile) >= self.threshold]
        self._far.clear()
        if not len(pile):
            return None
        keep, _ = self.scratch.distinct(pile)
        self._far.append(pile[keep])
        return values.index_select(0, self._far[0]).min()

    def open(self, values: Tensor, graph: Vertices, lowest: Tensor | None) -> Frontier:
        """The far vertices in the bucket of the value `lowest`; none for None."""
        if lowest is None:
            return graph.nothing()
        self.threshold = self._border_above(lowest)
        if not self._far:
            return graph.nothing()
        pile = torch.cat(self._far)
        close, far = Frontier.split(graph, pile, values.index_select(0, pile) < self.threshold)
        self._far = [far] if len(far) else []
        return close

    def _border_above(self, lowest: Tensor) -> float:
        """The bucket border above a value, exact in the dtype of the values, and never equal to the value."""
        border = min((lowest.item() // self.delta + 1) * self.delta, self._largest)
        if not self.dtype.is_floating_point:
            return border
        just_above = torch.nextafter(lowest, torch.full_like(lowest, math.inf))
        return torch.maximum(torch.full_like(lowest, border), just_above).item()
