"""Searches that go on one vertex at a time: their results depend on the order in which rows list their neighbours, and
are those of the textbook's sequential algorithm. Where only distances are wanted, `tgraph.algorithms.bfs` and `sssp`
find them faster.

The rows are tensors on the CPU as in a Csr, in any order: offset, int64 [n + 1], and neighbors, int32 or int64 [m].
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import validate
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.paths import search

_WEIGHTS = (torch.int64, torch.float64)


def breadth_first(
    offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Breadth-first search by a queue.

    offset, neighbors : the rows. sources : int64 [s]. max_depth : go no farther than so many hops.
    Returns the vertices in the order in which they are found, int64 [k], and for each of these who found it, -1 for a
    source, and its depth.

    >>> graph = tg.Graph.from_edges([0, 0, 2], [2, 1, 3])
    >>> tg.primitives.search.breadth_first(graph.offset, graph.neighbors, torch.tensor([0]))
    (tensor([0, 1, 2, 3]), tensor([-1,  0,  0,  2]), tensor([0, 1, 1, 2]))
    """
    _check(offset, sources)
    return search.breadth_first(offset, neighbors, sources, _depth(offset, max_depth))


def dijkstra(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor,
    sources: Tensor,
    *,
    cutoff: float | None = None,
    target: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
    """Dijkstra's algorithm by a heap, from which vertices of equal distance leave in the order in which they entered.

    offset, neighbors : the rows. weights : int64 or float64 [m]. sources : int64 [s]. cutoff : go no farther than this.
    target : end at this vertex. Returns the vertices in the order in which they are settled, int64 [k], as many in the
    order in which they were met first (the same ones, unless there is a target), for each vertex its predecessor, int64
    [n], -1 for none, and its distance, of the dtype of the weights, final for the vertices in the order. None where a
    settled vertex would come nearer, which takes a negative weight.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> found = tg.primitives.search.dijkstra(graph.offset, graph.neighbors, graph.weights, torch.tensor([0]))
    >>> order, met, predecessor, distance = found
    >>> order, predecessor, distance
    (tensor([0, 1, 2]), tensor([-1,  0,  1]), tensor([0., 1., 3.], dtype=torch.float64))
    """
    _check(offset, sources)
    _check_data(weights, "weights", len(neighbors), _WEIGHTS)
    return search.dijkstra(offset, neighbors, weights, sources, cutoff, -1 if target is None else target)


def meet(
    offset: Tensor, neighbors: Tensor, in_offset: Tensor, in_neighbors: Tensor, source: int, target: int
) -> list[int]:
    """A path of fewest arcs, found from both ends, whichever has fewer vertices to expand; empty where there is none.
    `offset`, `neighbors` are the rows, `in_offset`, `in_neighbors` those of the transpose; the path leads from `source`
    to `target`.

    >>> graph = tg.generators.path(5)
    >>> rows = graph.offset, graph.neighbors
    >>> tg.primitives.search.meet(*rows, *rows, 0, 4)
    [0, 1, 2, 3, 4]
    """
    _check_ends(offset, source, target)
    return search.meet(offset, neighbors, in_offset, in_neighbors, source, target)


def bellman_ford(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, *, early: bool = True
) -> tuple[list[int], list[list[int]], Tensor] | None:
    """Bellman and Ford's algorithm by a queue, for weights that may be negative: int64 or float64 [m].

    offset, neighbors, weights : the rows. sources : int64 [s].
    Returns the vertices in the order in which they are met, for each of them those before it on shortest paths, the one
    that the tree of the search has first, and the distances, [n], of the dtype of the weights. None for a negative
    cycle; `early` finds most of them by the paths that change distances, before a vertex is queued n times.

    >>> graph = tg.Graph.from_edges([0, 0, 2], [1, 2, 1], [4, 5, -3])
    >>> found = tg.primitives.search.bellman_ford(graph.offset, graph.neighbors, graph.weights, torch.tensor([0]))
    >>> met, before, distance = found
    >>> met, before, distance
    ([0, 1, 2], [[], [2], [0]], tensor([0, 2, 5]))
    """
    _check(offset, sources)
    _check_data(weights, "weights", len(neighbors), _WEIGHTS)
    return search.bellman_ford_in_order(offset, neighbors, weights, sources, early)


def meet_weighted(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor,
    in_offset: Tensor,
    in_neighbors: Tensor,
    in_weights: Tensor,
    source: int,
    target: int,
) -> tuple[list[int], float] | None:
    """A shortest path and its length by Dijkstra's algorithm from both ends in turns; an empty path where there is
    none. None where a settled vertex would come nearer, which takes a negative weight.

    `offset`, `neighbors` and `weights` are the rows, `in_offset`, `in_neighbors` and `in_weights` those of the
    transpose; the path leads from `source` to `target`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> back = graph.transpose()
    >>> rows = graph.offset, graph.neighbors, graph.weights
    >>> tg.primitives.search.meet_weighted(*rows, back.offset, back.neighbors, back.weights, 0, 2)
    ([0, 1, 2], 3.0)
    """
    _check_ends(offset, source, target)
    _check_data(weights, "weights", len(neighbors), _WEIGHTS)
    _check_data(in_weights, "in_weights", len(in_neighbors), _WEIGHTS)
    return search.meet_weighted(offset, neighbors, weights, in_offset, in_neighbors, in_weights, source, target)


def depth_first(
    offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Depth-first search from each of the sources that is not found yet.

    offset, neighbors : the rows. sources : int64 [s]. max_depth : vertices at this depth are found, but not entered.
    Returns the vertices as they are found, those entered as they are left, int64 [k] and [l], and who found each
    vertex, int64 [n], -1 for none.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 3])
    >>> found, left, finder = tg.primitives.search.depth_first(graph.offset, graph.neighbors, torch.tensor([0]))
    >>> found, left, finder
    (tensor([0, 1, 3, 2]), tensor([3, 1, 2, 0]), tensor([-1,  0,  0,  1]))
    """
    _check(offset, sources)
    return search.depth_first(offset, neighbors, sources, _depth(offset, max_depth))


def strong_components(offset: Tensor, neighbors: Tensor) -> Tensor:
    """The strongly connected component of each vertex, int64 [n], numbered as Tarjan's algorithm completes them: each
    after all that it reaches. `offset`, `neighbors` are the rows.

    >>> graph = tg.Graph.from_edges([0, 1, 1], [1, 0, 2])
    >>> tg.primitives.search.strong_components(graph.offset, graph.neighbors)
    tensor([1, 1, 0])
    """
    return search.strong_components(offset, neighbors)


def generations(offset: Tensor, neighbors: Tensor, in_degree: Tensor) -> tuple[Tensor, Tensor]:
    """A topological order by Kahn's algorithm, with a queue: the vertices, int64 [k], fewer than n where there is a
    cycle, and the generation of each, int64 [n], -1 for those left out. `offset`, `neighbors` are the rows,
    `in_degree`, int64 [n], the arcs into each vertex.

    >>> graph = tg.Graph.from_edges([3, 3, 1], [1, 2, 0])
    >>> tg.primitives.search.generations(graph.offset, graph.neighbors, graph.in_degree)
    (tensor([3, 1, 2, 0]), tensor([2, 1, 1, 0]))
    """
    _check_data(in_degree, "in_degree", len(offset) - 1, (torch.int64,))
    return search.generations(offset, neighbors, in_degree)


def _depth(offset: Tensor, max_depth: int | None) -> int:
    """The depth as kernels take it: no path is longer than there are vertices."""
    return len(offset) if max_depth is None else min(max_depth, len(offset))


def _check_ends(offset: Tensor, *ends: int) -> None:
    n = len(offset) - 1
    for end in ends:
        if not 0 <= end < n:
            raise ArgumentError(f"sources: {end} is no vertex of the {n}")


def _check_data(data: Tensor, name: str, size: int, dtypes: tuple[torch.dtype, ...]) -> None:
    if data.shape != (size,) or data.dtype not in dtypes:
        wanted = " or ".join(map(str, dtypes))
        raise ArgumentError(f"{name}: expected [{size}] of {wanted}, got {list(data.shape)} of {data.dtype}")


def _check(offset: Tensor, sources: Tensor) -> None:
    n = len(offset) - 1
    if sources.dim() != 1 or sources.dtype != torch.int64:
        raise ArgumentError(f"sources: expected int64 [s], got {sources.dtype} {list(sources.shape)}; use .long()")
    if not validate.are_below(sources, n):
        raise ArgumentError(f"sources: {int(sources[(sources < 0) | (sources >= n)][0])} is no vertex of the {n}")
