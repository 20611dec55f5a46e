"""Topological generations and longest paths by the kernels in `topological.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.call import Call
from tgraph.kernels.native.base.support import refuses_wide

_WEIGHTS = (torch.int32, torch.int64, torch.float32, torch.float64)


def refuses_longest(call: Call) -> str | None:
    """Why a graph or its weights are not served, None where they are."""
    if reason := refuses_wide(call.data):
        return reason
    weights = call.others[0] if call.others else None
    if weights is not None and weights.dtype not in _WEIGHTS:
        return f"it has no kernel for weights of {weights.dtype}"
    if weights is not None and (weights.requires_grad or not weights.is_cpu):
        return "it records no gradients"
    return None


def topological_levels(graph: Graph) -> Tensor:
    """See `tgraph.primitives.topological.generations`."""
    return count_in_order(graph)[0]


def count_in_order(graph: Graph) -> tuple[Tensor, int]:
    """The generations, and how many vertices are in one: fewer than all where there is a cycle."""
    number = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    stored = graph.offset.contiguous(), graph.neighbors.contiguous()
    return number, native.load().topological_levels(*stored, graph.in_degree.contiguous(), number)  # type: ignore[union-attr]


def longest(graph: Graph, weights: Tensor | None, generation: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.topological.longest`."""
    floating = weights is not None and weights.is_floating_point()
    length = torch.empty(graph.num_vertices, dtype=torch.float64 if floating else torch.int64, device="cpu")
    before = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    order = generation.argsort(stable=True)
    stored = graph.offset.contiguous(), graph.neighbors.contiguous()
    weights = None if weights is None else weights.contiguous()
    native.load().longest(*stored, weights, order, length, before)  # type: ignore[union-attr]
    return length, before
