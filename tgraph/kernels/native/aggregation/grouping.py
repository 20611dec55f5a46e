"""Sources grouped by degree: the data that most arcs lead to, side by side in memory.

Where a graph is so large that a processor's second-level cache does not hold what its arcs gather, most of them still
lead to few vertices; but the data of these lies apart, on a cache line each. A copy of the data, hubs first, and the
neighbours numbered by their place in it have most gathers served by that cache (Faldu, Diamond and Grot, "A closer look
at lightweight graph reordering", IISWC 2019). Rows and arcs keep their order, and sums are the same to the last bit.

The numbered neighbours take as much memory as those of the graph, and as long as two or three passes over the arcs.
They are made for a graph that is gathered from again and again, listed by its `caches`, and freed with these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.derived import detached_cache_scope
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.core.system.memory import available_memory
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled

PATIENCE = 3  # so many passes over the arcs are made before one numbers them
COLUMNS = 32  # bytes of a vertex's data at most: what fills half a cache line gains little from who shares it
WORTH = 8  # arcs to a vertex: moving its data has to pay
SPARE = 4  # so many times the memory that is taken has to be available


class Grouped:
    """The sources of all arcs of a graph by degree, from when they have been gathered again and again.

    passes : how often they were gathered. most : bytes of a vertex's data up to which grouping pays; None: not known.
    order : int32 [n], the vertices by falling powers of two of their degree, and by number within each.
    neighbors : int32 [m], the places in `order` of the neighbours. Both None before they are needed.
    """

    passes: int

    def __init__(self) -> None:
        self.passes = 0
        self.most: int | None = None
        self.order: Tensor | None = None
        self.neighbors: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of both tensors."""
        return sum(tensor.nbytes for tensor in (self.order, self.neighbors) if tensor is not None)

    def serves(self, row_bytes: int, neighbors: Tensor, degree: Callable[[], Tensor]) -> bool:
        """Whether data of so many bytes a vertex is to be arranged in one more pass. `degree` gives how many of the
        neighbours [m] each vertex is, [n]."""
        self.passes += 1
        if self.passes <= PATIENCE or (self.most is not None and row_bytes > self.most):
            return False
        if self.neighbors is None:
            with detached_cache_scope():
                if self.neighbors is None:
                    self._number(row_bytes, neighbors, degree())
        return self.neighbors is not None and row_bytes <= cast(int, self.most)

    def _number(self, row_bytes: int, neighbors: Tensor, degree: Tensor) -> None:
        kernels: Any = compiled()
        self.most = 0
        n, m = len(degree), len(neighbors)
        if m < WORTH * n or not kernels.are_apart(neighbors) or not _has_room(neighbors.nbytes + 5 * degree.nbytes):
            return
        order = by_degree(degree)
        half = int(torch.searchsorted(degree.index_select(0, order).cumsum(0), m // 2)) + 1  # of the arcs lead to these
        self.most = min(cache_bytes() // half, COLUMNS)
        if row_bytes > self.most:
            return
        place = torch.empty_like(order).scatter_(0, order.long(), torch.arange(n, dtype=order.dtype, device="cpu"))
        numbered = fresh((m,), neighbors.dtype)
        kernels.look_up_ids(neighbors, 0, place, numbered)
        if kernels.are_apart(numbered):  # as the neighbours were, by which kernels choose how to add
            self.order, self.neighbors = order, numbered
        else:
            self.most = 0

    def arrange(self, data: Tensor) -> Tensor:
        """A copy of the data [n, ...] in the order of the groups."""
        order, data = cast(Tensor, self.order), data.detach()
        out = fresh(data.shape, data.dtype)
        entry = {4: torch.int32, 8: torch.int64}.get(data.nbytes // len(data))
        if entry is None:
            return torch.index_select(data, 0, order, out=out)
        kernels: Any = compiled()
        kernels.look_up_ids(order, 0, data.view(-1).view(entry), out.view(-1).view(entry))
        return out


def by_degree(degree: Tensor) -> Tensor:
    """The vertices by falling powers of two of their degree, int64 [n], then by number: int32 [n]."""
    group = 64 - torch.frexp(degree.double()).exponent  # 0 to 64
    offset, order = (
        torch.empty(66, dtype=torch.int64, device="cpu"),
        torch.empty(len(degree), dtype=torch.int32, device="cpu"),
    )
    kernels: Any = compiled()
    kernels.transpose(torch.arange(len(degree) + 1, device="cpu"), group, offset, order, None, False)
    return order


def gathered(graph: Graph, data: Tensor) -> tuple[Tensor, Tensor]:
    """The neighbours of all rows of the graph, int32 or int64 [m], and the contiguous data [n, ...] that they number:
    as they are, or both by groups of degree."""
    graph = graph.decoded()
    if data.nbytes < 2 * cache_bytes() or graph.neighbors.dtype != torch.int32:
        return graph.neighbors, data
    grouped = graph.kept("sources by degree", Grouped)
    if not grouped.serves(data.nbytes // len(data), graph.neighbors, lambda: graph.in_degree):
        return graph.neighbors, data
    return cast(Tensor, grouped.neighbors), grouped.arrange(data)


@functools.cache
def cache_bytes() -> int:
    """Of the second-level cache of a processor."""
    return devices.cache_bytes(torch.device("cpu"))


def _has_room(nbytes: int) -> bool:
    """Whether so much memory may be taken; True on systems that do not tell."""
    left = available_memory()
    return left is None or left >= SPARE * nbytes
