"""Layers on a `tgraph.Graph` under torch.compile: tensors derived from the graph are computed at trace time and become
constants of the compiled code, which is specialised to this graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from tgraph.core.graph import Graph
from tgraph.core.owner import set_owner
from tgraph.nn.adjacency import Adjacency, GraphAdjacency

F = TypeVar("F", bound=Callable[..., object])


def at_trace_time(function: F) -> F:
    """As torch.compiler.assume_constant_result, without importing the compiler."""
    setattr(function, "_dynamo_marked_constant", True)  # noqa: B010
    return function


@at_trace_time
def prepare(graph: Graph, reverse: bool) -> bool:
    """Compute all derived tensors of the arcs of a graph. The result has no meaning."""
    derive(GraphAdjacency(graph, reverse))
    return True


def derive(adjacency: Adjacency) -> None:
    """Compute an adjacency's derived tensors for layers."""
    for stored in (adjacency.rows, adjacency.columns):
        stored.ensure_valid()
        set_owner(stored.neighbors, stored)
        mark_static(stored.offset, stored.neighbors)
    adjacency.degree, adjacency.unreached, adjacency.rows.transpose_permutation  # noqa: B018
    for of_edges in (True, False):
        arcs = adjacency.arcs(of_edges)
        arcs.by_column()
        arcs.by_column(numbered=True)


def mark_static(*tensors: torch.Tensor | None) -> None:
    """Mark addresses as static: CUDA graphs then replay on these tensors without copying them."""
    for tensor in tensors:
        if tensor is not None:
            torch._dynamo.mark_static_address(tensor)
