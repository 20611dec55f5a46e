"""Colours of vertices such that neighbours differ."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.coloring import coloring, two_coloring
from tgraph.primitives.components import check_undirected


def color_in_order(graph: Graph, order: Tensor, *, backend: str = "auto") -> Tensor:
    """Greedy colours, int64 [n]: each vertex in turn gets the smallest, from 0, that no neighbour has so far.

    order : every vertex once, int64 [n]. Self-loops do not count. A vertex has to wait for the neighbours before it
    only, so that many may be coloured at once, with the same result. `backend` names the kernels. O(n + m).
    Raises ArgumentError for a directed graph and for an order that is no permutation.

    >>> graph = tg.generators.path(4)
    >>> tg.primitives.coloring.color_in_order(graph, torch.tensor([0, 3, 1, 2]))
    tensor([0, 1, 2, 0])
    """
    check_undirected(graph)
    n = graph.num_vertices
    if order.shape != (n,) or order.dtype != torch.int64 or order.device != graph.device:
        raise ArgumentError(
            f"order: expected int64 [{n}] on {graph.device}, got {order.dtype} {list(order.shape)} on {order.device}"
        )
    if n and (int(order.min()) < 0 or int(order.max()) >= n or bool((order.bincount(minlength=n) != 1).any())):
        raise ArgumentError(f"order: not every vertex 0..{n - 1} once; use scores.argsort()")
    graph = graph.decoded()
    return coloring.color_in_order.with_backend(backend)(graph, order)


def color_by_depth(graph: Graph, *, backend: str = "auto") -> tuple[Tensor, int]:
    """(depth, conflict): the distance of each vertex from the smallest of its component, int64 [n], whose parity is a
    two-colouring; and -1, or the first vertex with a neighbour of its own depth.

    First means in the component of the smallest vertex, there of the least depth, and of these the smallest. With a
    conflict only the depths up to its own, in its component, are to be relied on. `backend` names the kernels.
    O(n + m), less where there is a conflict. Raises ArgumentError for a directed graph.

    >>> tg.primitives.coloring.color_by_depth(tg.generators.path(4))
    (tensor([0, 1, 2, 3]), -1)
    >>> tg.primitives.coloring.color_by_depth(tg.generators.cycle(3))
    (tensor([0, 1, 1]), 1)
    """
    check_undirected(graph)
    graph = graph.decoded()
    return two_coloring.color_by_depth.with_backend(backend)(graph)


def has_odd_cycle(graph: Graph, *, backend: str = "auto") -> bool:
    """Whether some cycle has an odd number of edges; a self-loop is one. Arcs count as edges whichever way they point.

    `backend` names the kernels. O(n + m), less where a search of some thousand arcs meets such a cycle.

    >>> tg.primitives.coloring.has_odd_cycle(tg.generators.cycle(5))
    True
    """
    graph = graph.decoded()
    return two_coloring.has_odd_cycle.with_backend(backend)(graph)
