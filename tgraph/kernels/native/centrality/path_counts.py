"""Counts of shortest paths by the kernels in `path_counts.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.call import Call
from tgraph.kernels.native.base.support import refuses_graph


def refuses(call: Call) -> str | None:
    """Why distances are not served, None where they are."""
    served = call.data.dtype in (torch.int64, torch.float64)
    if served:
        return refuses_graph(call)
    return f"it takes distances in int64 or float64, not in {call.data.dtype}"


def count_paths(graph: Graph, distance: Tensor, weighted: bool, even: bool) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.path_counts.count_paths`."""
    counts = torch.zeros(distance.shape, dtype=torch.float64, device="cpu")
    onward = torch.zeros_like(counts)
    sides = (*_arcs(graph, distance, weighted), *_arcs(graph.transpose(), distance, weighted))
    kernels = cast(ModuleType, native.load())
    kernels.count_paths(*sides, distance.contiguous().view(-1), even, counts.view(-1), onward.view(-1))
    return counts, onward


def add_along_arcs(graph: Graph, distance: Tensor, weighted: bool, left: Tensor, right: Tensor, sums: Tensor) -> Tensor:
    """See `tgraph.primitives.path_counts.add_along_arcs`."""
    values = [values.contiguous().view(-1) for values in (distance, left, right)]
    cast(ModuleType, native.load()).add_along_arcs(*_arcs(graph, distance, weighted), *values, sums)
    return sums


def _arcs(graph: Graph, distance: Tensor, weighted: bool) -> tuple[Tensor | None, ...]:
    weights = graph.weights.to(distance.dtype).contiguous() if weighted and graph.weights is not None else None
    return graph.offset.contiguous(), graph.neighbors.contiguous(), weights
