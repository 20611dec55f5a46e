"""Buckets of a part by the kernel in `buckets.hpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import part_buckets as declared


def refuses(inside: Graph, outside: Graph, values: Tensor, delta: float) -> str | None:
    """Why there is no kernel for such buckets, None where there is one."""
    if values.dtype not in DTYPES or values.dim() != 1:
        return "it takes one value for each vertex, in 32 or 64 bits"
    for graph in (inside, outside):
        if graph.layout is not None or graph.neighbors.dtype != torch.int32:
            return "it reads arcs in CSR with int32 neighbours"
        if graph.weights is None or graph.weights.dtype not in DTYPES:
            return "it takes weights of 32 or 64 bits"
        if graph.weights.is_floating_point() and torch.promote_types(graph.weights.dtype, values.dtype) != values.dtype:
            return "the values cannot represent the weights"
    return refuses_data(values)


@implements(declared.part_buckets, refuses)
class PartBuckets:
    """See the declaration."""

    def __init__(self, inside: Graph, outside: Graph, values: Tensor, delta: float):
        rows: list[Any] = []
        for graph in (inside, outside):
            rows += [graph.offset, graph.neighbors, cast(Tensor, graph.weights).detach().contiguous()]
        self._held, self._size = (*rows, values), inside.num_vertices  # whose memory the kernel reads
        kind = f"PartBuckets_{str(values.dtype).removeprefix('torch.')}"
        buckets = self._buckets = getattr(compiled(), kind)(*rows, values, delta)
        self.queue, self.receive, self.next_bucket = buckets.queue, buckets.receive, buckets.next_bucket
        self._num_reached = 0

    def run(self, end: int) -> tuple[int, int]:
        """See the declaration."""
        size, arcs, self._num_reached = self._buckets.run(end)
        return size, arcs

    def reached(self) -> tuple[Tensor, Tensor, int]:
        """See the declaration."""
        mirrors = torch.empty(self._num_reached, dtype=torch.int64, device="cpu")
        messages = torch.empty(self._num_reached, dtype=self._held[-1].dtype, device="cpu")
        return mirrors, messages, self._buckets.take_reached(mirrors, messages)

    def queued(self) -> Tensor:
        """See the declaration."""
        mask = torch.empty(self._size, dtype=torch.bool, device="cpu")
        self._buckets.mark_queued(mask)
        return mask
