"""Generations of a directed graph without cycles, and its longest paths."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.dag import topological as operators
from tgraph.kernels.operators.dag import transitive
from tgraph.primitives import weights as kinds
from tgraph.primitives.paths.shortest_paths import check_sums


def generations(graph: Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the most arcs of a path that ends there, int64 [n]; -1 on cycles and behind them.

    `backend` names the kernels. O(n + m). Raises ArgumentError for an undirected graph.

    >>> tg.primitives.topological.generations(tg.Graph.from_edges([3, 3, 1], [1, 2, 0]))
    tensor([2, 1, 1, 0])
    """
    check_directed(graph)
    graph = graph.decoded()
    return operators.topological_levels.with_backend(backend)(graph)


def has_cycle(graph: Graph, *, backend: str = "auto") -> bool:
    """Whether a path of one arc or more leads back to where it began; a self-loop does.

    `backend` names the kernels. O(n + m), less where a search of some thousand arcs meets a cycle. Raises ArgumentError
    for an undirected graph.

    >>> tg.primitives.topological.has_cycle(tg.Graph.from_edges([0, 1], [1, 0]))
    True
    """
    check_directed(graph)
    graph = graph.decoded()
    return operators.has_cycle.with_backend(backend)(graph)


def longest(
    graph: Graph, generation: Tensor, *, weighted: bool = False, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """(length, before) of the longest paths: for each vertex the largest sum over a path that ends there, and the
    vertex before it on such a path, the smallest of several.

    generation : int64 [n] as `generations` gives it, of a graph without cycles. weighted : whether to sum the weights,
    which may be negative, -inf for an arc that is on no longest path, or to count arcs. length : [n], int64, or float64
    for floating weights; at least 0, for the path of one vertex. before : int64 [n], -1 where a path begins. `backend`
    names the kernels. O(n + m).

    Raises ArgumentError for generations of another shape or dtype, or that are negative, and for weights that are
    missing, NaN or inf.

    >>> from tgraph.primitives import topological
    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> topological.longest(graph, topological.generations(graph))
    (tensor([0, 1, 2]), tensor([-1,  0,  1]))
    """
    _check_generation(graph, generation)
    graph = graph.decoded()
    weights = graph.weights if weighted else None
    if weighted and weights is None:
        raise ArgumentError("weighted: the graph has no weights; use weighted=False")
    if weighted:
        kinds.check(graph, "gains", "longest paths")
        check_sums(graph)
    return operators.longest.with_backend(backend)(graph, weights, generation)


def replaced_arcs(graph: Graph, generation: Tensor, *, backend: str = "auto") -> Tensor:
    """Whether a path of two arcs or more leads where an arc does, bool [m], in the order of the arcs of
    `graph.transpose()`.

    generation : int64 [n] as `generations` gives it, of a graph without cycles. `backend` names the kernels.
    O(n * m / 256), less where vertices have few ancestors. Raises ArgumentError for generations of another shape or
    dtype, or that are negative.

    >>> from tgraph.primitives import topological
    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> replaced = topological.replaced_arcs(graph, topological.generations(graph))
    >>> graph.transpose().to_edge_index()[:, replaced]
    tensor([[2],
            [0]])
    """
    _check_generation(graph, generation)
    graph = graph.decoded()
    return transitive.replaced_arcs.with_backend(backend)(graph, generation)


def reached(graph: Graph, generation: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
    """(first, reached, longer) for some targets at a time, from `first` on: which of them each vertex reaches, and
    which by two arcs or more, bool [n, width]. `generation` is that of `replaced_arcs`. O(n * m).

    Raises ArgumentError for generations of another shape or dtype, or that are negative.

    >>> from tgraph.primitives import topological
    >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
    >>> first, reached, longer = next(topological.reached(graph, topological.generations(graph)))
    >>> reached.int()
    tensor([[0, 1, 1],
            [0, 0, 1],
            [0, 0, 0]], dtype=torch.int32)
    """
    _check_generation(graph, generation)
    return transitive.reached(graph.decoded(), generation)


def _check_generation(graph: Graph, generation: Tensor) -> None:
    if generation.shape != (graph.num_vertices,) or generation.dtype != torch.int64:
        raise ArgumentError(
            f"generation: expected int64 [{graph.num_vertices}], got {generation.dtype} {list(generation.shape)}"
        )
    if bool((generation < 0).any()):
        bad = int((generation < 0).nonzero()[0])
        raise ArgumentError(f"generation: {int(generation[bad])} at position {bad}; the graph has a cycle")


def check_directed(graph: Graph) -> None:
    """Raise ArgumentError for an undirected graph.

    >>> tg.primitives.topological.check_directed(tg.generators.path(3))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: graph: undirected, and this is for directed graphs; give the edges directions
    """
    if not graph.directed:
        raise ArgumentError("graph: undirected, and this is for directed graphs; give the edges directions")
