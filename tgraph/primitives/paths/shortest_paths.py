"""Shortest paths themselves, beside their lengths: from one vertex to another, trees of them, and where weights may be
negative.

Weights are those of the graph; without, every arc weighs 1. Sums of integer weights are int64, those of floating ones
are taken in float64. An arc of weight inf is on no path.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, NegativeCycleError
from tgraph.kernels.operators.paths import shortest_paths as operators
from tgraph.primitives import values
from tgraph.primitives import weights as kinds

LARGEST_SUM = 2**62
EXACT = 2**53  # up to which all integers are floats of 64 bits


def hops(graph: Graph, source: int, target: int, *, backend: str = "auto") -> float:
    """The arcs of a path of fewest from `source` to `target`, inf where there is none; see `fewest_hops`. `backend`
    names the kernels.

    >>> tg.primitives.shortest_paths.hops(tg.generators.cycle(6), 0, 3)
    3
    """
    graph, (source, target) = graph.decoded(), _ends(graph, source, target)
    found = operators.hops.with_backend(backend)(graph, source, target)
    return found if found >= 0 else torch.inf


def fewest_hops(graph: Graph, source: int, target: int, *, backend: str = "auto") -> Tensor:
    """The vertices of a path of fewest arcs from `source` to `target`, int64 [k], empty where there is none. By
    breadth-first search from both ends, which reaches about the square root of the vertices that a search from one end
    does. `backend` names the kernels.

    >>> tg.primitives.shortest_paths.fewest_hops(tg.generators.path(4), 0, 3)
    tensor([0, 1, 2, 3])
    """
    graph, (source, target) = graph.decoded(), _ends(graph, source, target)
    return operators.fewest_hops.with_backend(backend)(graph, source, target)


def shortest_path(
    graph: Graph, source: int, target: int, *, bound: Tensor | None = None, backend: str = "auto"
) -> tuple[Tensor, float]:
    """(vertices int64 [k], length) of a path of least weight from `source` to `target`; no vertices and inf where there
    is none. `backend` names the kernels.

    By Dijkstra's algorithm from both ends, or, with a `bound`, by A*: for each vertex [n] a number that is at most its
    distance to the target, inf where that is out of reach. Raises ArgumentError for a negative or NaN weight, and for
    bounds of another shape or NaN.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.primitives.shortest_paths.shortest_path(graph, 0, 2)
    (tensor([0, 1, 2]), 3.0)
    """
    graph, (source, target) = graph.decoded(), _ends(graph, source, target)
    check_weights(graph)
    check_sums(graph)
    if bound is not None:
        graph._check_vertex_data(bound, "bound", dimensions=1)
        if bound.is_floating_point() and bool(bound.isnan().any()):
            raise ArgumentError(f"bound: NaN at position {int(bound.isnan().nonzero()[0])}; use 0 where none is known")
        if bound.is_floating_point():
            check_sums(graph, EXACT)
        elif sums.largest(bound) >= LARGEST_SUM:
            bound = bound.clamp(-LARGEST_SUM, LARGEST_SUM - 1)  # no distance is larger, and the sum of both fits
    if graph.weight_dtype is None and bound is None:
        path = fewest_hops(graph, source, target, backend=backend)
        return path, len(path) - 1 if len(path) else torch.inf
    path, length = operators.shortest_path.with_backend(backend)(graph, source, target, bound)
    return (path, length) if len(path) and length < torch.inf else (path[:0], torch.inf)


def k_shortest(
    graph: Graph, source: int, target: int, count: int, *, weighted: bool = True, backend: str = "auto"
) -> list[tuple[Tensor, float]]:
    """The `count` shortest paths from `source` to `target` without a vertex twice, fewer where there are not so many:
    (vertices int64, length) of each, shortest first. `weighted` counts weights, otherwise arcs; `backend` names the
    kernels. Raises ArgumentError for a negative or NaN weight, and a count below 0.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.primitives.shortest_paths.k_shortest(graph, 0, 2, 2)
    [(tensor([0, 1, 2]), 3.0), (tensor([0, 2]), 5.0)]
    """
    graph, (source, target) = graph.decoded(), _ends(graph, source, target)
    if count < 0:
        raise ArgumentError(f"count: expected 0 paths or more, got {count}")
    if weighted:
        check_weights(graph)
        check_sums(graph)
    count = min(count, LARGEST_SUM)  # there are fewer
    found = operators.k_shortest.with_backend(backend)(graph, source, target, count, weighted)
    finite = ((path, length) for path, length in found if length < torch.inf)
    return [(torch.tensor(path, dtype=torch.int64, device=graph.device), length) for path, length in finite]


def parents(graph: Graph, distance: Tensor, sources: Tensor, *, backend: str = "auto") -> Tensor:
    """A tree of shortest paths that goes with the distances [n] from the `sources`, the parent of each vertex, int64
    [n]: a source itself at a source, -1 where unreached.

    Of the in-neighbours u with distance[u] + weight = distance[v] it is the smallest that is nearer than v. Arcs of
    weight 0 may leave none; vertices that only these reach follow in rounds, as in a breadth-first search, each with
    the smallest that is in the tree when a round begins. `distance` is as `sssp` gives it: inf, or -1 for integers,
    where unreached. `backend` names the kernels.

    >>> graph = tg.generators.path(4)
    >>> distance = tg.algorithms.sssp(graph, 1)
    >>> tg.primitives.shortest_paths.parents(graph, distance, torch.tensor([1]))
    tensor([1, 1, 1, 2])
    """
    graph._check_vertex_data(distance, "distance", dimensions=1)
    parent = values.full(graph, -1, torch.int64)
    parent[sources] = sources
    operators.parents.with_backend(backend)(graph.decoded(), distance, parent)
    return parent


def bellman_ford(graph: Graph, sources: Tensor, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """(distance, parent), [n] each, from the nearest of the `sources`, with weights that may be negative.

    The parents are a tree of shortest paths, int64, -1 where unreached and the source itself at a source; unreached
    vertices have the largest value of the dtype as distance. `backend` names the kernels. O(n m).
    Raises NegativeCycleError where a cycle of negative weight is within reach, and ArgumentError for a weight that is
    NaN or -inf.

    >>> graph = tg.Graph.from_edges([0, 0, 2], [1, 2, 1], [4, 5, -3])
    >>> tg.primitives.shortest_paths.bellman_ford(graph, torch.tensor([0]))
    (tensor([0, 2, 5]), tensor([0, 2, 0]))
    """
    graph = graph.decoded()
    sources = graph.as_vertices(sources, "sources")
    kinds.check(graph, "signed lengths", "shortest paths")
    check_sums(graph)
    distance, parent, cycle = operators.bellman_ford.with_backend(backend)(graph, sources)
    if cycle:
        ids = graph.ids(torch.tensor(cycle))
        raise NegativeCycleError(ids.tolist() if isinstance(ids, Tensor) else list(ids), cycle)
    return distance, parent.masked_fill_(distance == torch.inf, -1) if distance.is_floating_point() else parent


def check_weights(graph: Graph) -> None:
    """Raise ArgumentError for the first weight that is negative or NaN.

    >>> tg.primitives.shortest_paths.check_weights(tg.Graph.from_edges([0, 1], [1, 2], [1.0, -2.0]))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: weights: -2.0 at position 1, arc 1 -> 2; shortest paths need weights that ...
    """
    kinds.check(graph, "lengths", "shortest paths", "use bellman_ford, shift or replace them")


def check_sums(graph: Graph, most: int = LARGEST_SUM, count: int | None = None) -> None:
    """Raise ArgumentError where sums of `count` integer weights, by default along a path, might reach `most`: what fits
    int64 by default, and EXACT in float64.

    >>> tg.primitives.shortest_paths.check_sums(tg.Graph.from_edges([0, 1], [1, 2], [2**62, 2**62]))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: weights: sums of 3 weights as large as 4611686018427387904 may exceed ...
    """
    if graph.weight_dtype is None or graph.weight_dtype.is_floating_point:
        return
    largest = max(abs(end) for end in graph.weight_range)
    count = graph.num_vertices if count is None else count
    if largest * max(count, 1) >= most:
        limit = "int64" if most == LARGEST_SUM else f"2**{most.bit_length() - 1}, the integers of float64"
        raise ArgumentError(f"weights: sums of {count} weights as large as {largest} may exceed {limit}; use float64")


def bucket_width(graph: Graph) -> float:
    """The width of the buckets in which distances over the weights are relaxed (delta-stepping), for a graph with arcs.

    Chosen so that a bucket holds enough work for one pass, little of which is repeated: the mean weight times 32 over
    the mean degree at the end of a random arc, where cuGraph's near-far search takes the mean degree; within a factor
    of 32 of the mean weight.

    >>> tg.primitives.shortest_paths.bucket_width(tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 6.0]))
    96.0
    """
    return graph.mean_weight * min(max(32 / graph.mean_degree_met, 1 / 16), 32)


def _ends(graph: Graph, source: int, target: int) -> tuple[int, int]:
    n = graph.num_vertices
    if type(source) is type(target) is int and 0 <= source < n and 0 <= target < n:
        return source, target
    return int(graph.as_vertices(source, "source")), int(graph.as_vertices(target, "target"))
