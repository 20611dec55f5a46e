"""The arcs of a rank as pairs of local vertices, for operators in rounds, and how such an operator is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from tgraph.core.building.sorting import expand_rows
from tgraph.core.dispatch import BACKENDS, LAYOUT, Operator
from tgraph.core.graph import Graph
from tgraph.distributed.data.sharded import Sharded
from tgraph.kernels.layout.spreading import layout_of
from tgraph.kernels.quotient import SpreadQuotient

F = TypeVar("F", bound=Callable[..., Any])


def on_ranks(operator: Operator[..., Any]) -> Callable[[F], F]:
    """A decorator that offers a function as the implementation of an `operator` for graphs that are spread over ranks,
    or data of their vertices, `Sharded`, the first of its arguments; all ranks call it."""
    return cast(Callable[[F], F], BACKENDS[LAYOUT].implements(operator, _refuses))


def _refuses(first: Any, *others: Any, **named: Any) -> str | None:
    is_spread = isinstance(first, (Sharded, SpreadQuotient)) or (
        isinstance(first, Graph) and first.storage.is_distributed
    )
    return None if is_spread else "the graph is not spread over ranks"


class Arcs:
    """The arcs of the k own rows of this rank. row : int64 [e], own vertices by local number. other : int64 [e], the
    vertices that the rows list: own ones, and mirrors from k on. weights : [e] or None. They are in the order of the
    whole graph. numbers : int64 [k + h], those of local vertices there.

    Made by all ranks together, which call all methods alike.
    """

    def __init__(self, graph: Graph):
        layout = layout_of(graph)
        rows = layout.local_rows
        self.ownership: Any = layout.ownership
        self.row: Tensor = expand_rows(rows.offset)
        self.other: Tensor = rows.neighbors.to(torch.int64)
        self.weights: Tensor | None = rows.weights
        self.numbers: Tensor = layout.numbers
        self._layout = layout

    def keep(self, mask: Tensor) -> None:
        """Go on without the other arcs."""
        self.row, self.other = self.row[mask], self.other[mask]
        self.weights = None if self.weights is None else self.weights[mask]

    def without_self_loops(self) -> Arcs:
        """These arcs, from which self-loops were removed."""
        self.keep(self.row != self.other)
        return self

    def at_both(self, own: Tensor) -> Tensor:
        """Data [k, ...] of own vertices with that of the mirrors, [k + h, ...]."""
        return self._layout.with_mirrors(own)

    def at_others(self, own: Tensor) -> Tensor:
        """Data of own vertices [k, ...], at the other end of each arc: [e, ...]."""
        return self.at_both(own).index_select(0, self.other)

    def is_any(self, here: Tensor | bool) -> bool:
        """Whether it is so on any rank."""
        return bool(self.ownership.gather(torch.tensor(bool(here), device="cpu")).any())

    def spread(self, own: Tensor) -> Tensor:
        """Data of own vertices [k, ...] as that of all, `Sharded`."""
        return self._layout.spread(own)
