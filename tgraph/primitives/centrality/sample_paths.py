"""Shortest paths drawn at random, for estimates of betweenness."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.centrality import sample_paths as operators


def inside(graph: Graph, key: int, first: int, count: int, *, backend: str = "auto") -> Tensor:
    """How many of `count` random shortest paths in hops each vertex is inside of, int64 [n].

    A sample is a pair of different vertices and one of the shortest paths from the one to the other, all as likely; it
    counts for the vertices between its ends, and for none where there is no path. Samples are numbered from `first`
    on, and sample i depends on `key`, a stream of `tg.random.key`, and on i alone: more can be drawn later. `backend`
    names the kernels, which draw the same pairs, but not the same paths.

    Raises ArgumentError for a graph of fewer than two vertices, or negative numbers.

    >>> graph = tg.generators.star(4)
    >>> inside = tg.primitives.sample_paths.inside(graph, tg.random.key(7), 0, 100)
    >>> inside.nonzero().flatten()
    tensor([0])
    """
    if graph.num_vertices < 2:
        raise ArgumentError(f"graph: a path has two ends, the graph {graph.num_vertices} vertices")
    if min(first, count) < 0:
        raise ArgumentError(f"first, count: must not be negative, got {first} and {count}")
    graph.ensure_valid()
    graph = graph.decoded()
    return operators.paths_inside.with_backend(backend)(graph, key, first, count)
