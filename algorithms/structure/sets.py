"""Graphs as sets of arcs: their union, intersection, differences and complement.

Arcs are compared as sorted numbers, in a search for each. Parallel arcs count once; weights are those of the first
graph that has the arc unless a function says otherwise. Columns follow where all arcs are those of one graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.structure._arcs import graph_of, keys, occurs, with_columns

LARGEST = 2**31  # pairs of vertices that `complement` looks at


def compose(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs that are in either graph, as networkx.compose: weights are those of `other` where it has
    the arc, and columns are left out. Without original ids the graphs may have different numbers of vertices.

    Raises ArgumentError for graphs of other vertices, and for a directed and an undirected one.

    >>> graph = tg.algorithms.compose(tg.Graph.from_edges([0], [1]), tg.Graph.from_edges([0, 1], [1, 2]))
    >>> graph.to_edge_index()
    tensor([[0, 1],
            [1, 2]])
    """
    width = _same_vertices(graph, other, grows=True)
    mine, theirs = keys(graph, width), keys(other, width)
    left = ~occurs(mine[0], theirs[0])
    return _joined([(mine, left), (theirs, None)], width, graph if graph.num_vertices == width else other)


def intersection(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs that are in `graph` and in `other`, with the weights of the first.

    Raises ArgumentError for graphs of other vertices, and for a directed and an undirected one.

    >>> graph, other = tg.generators.cycle(4), tg.generators.star(3)
    >>> tg.algorithms.intersection(graph, other).to_edge_index()
    tensor([[0, 0, 1, 3],
            [1, 3, 0, 0]])
    """
    width = _same_vertices(graph, other)
    mine = keys(graph, width)
    return with_columns(_joined([(mine, occurs(mine[0], keys(other, width)[0]))], width, graph), graph)


def difference(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs of `graph` that `other` has not, as networkx.difference.

    Raises ArgumentError for graphs of other vertices, and for a directed and an undirected one.

    >>> graph, other = tg.generators.cycle(4), tg.generators.path(4)
    >>> tg.algorithms.difference(graph, other).to_edge_index()
    tensor([[0, 3],
            [3, 0]])
    """
    width = _same_vertices(graph, other)
    mine = keys(graph, width)
    return with_columns(_joined([(mine, ~occurs(mine[0], keys(other, width)[0]))], width, graph), graph)


def symmetric_difference(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs that just one of `graph` and `other` has, as networkx.symmetric_difference; columns are
    left out.

    Raises ArgumentError for graphs of other vertices, and for a directed and an undirected one.

    >>> graph, other = tg.Graph.from_edges([0, 1], [1, 2]), tg.Graph.from_edges([1, 2], [2, 0])
    >>> tg.algorithms.symmetric_difference(graph, other).to_edge_index()
    tensor([[0, 2],
            [1, 0]])
    """
    width = _same_vertices(graph, other)
    mine, theirs = keys(graph, width), keys(other, width)
    only = [(mine, ~occurs(mine[0], theirs[0])), (theirs, ~occurs(theirs[0], mine[0]))]
    return _joined(only, width, graph)


def disjoint_union(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """Both graphs side by side, as networkx.disjoint_union: vertex v of `other` becomes n + v. Parallel arcs stay,
    original ids and columns do not.

    Raises ArgumentError for a directed and an undirected graph.

    >>> tg.algorithms.disjoint_union(tg.generators.path(2), tg.generators.path(2)).to_edge_index()
    tensor([[0, 1, 2, 3],
            [1, 0, 3, 2]])
    """
    _same_direction(graph, other)
    first, second = graph.decoded(), other.decoded()
    offset = torch.cat((first.offset, first.num_arcs + second.offset[1:]))
    neighbors = torch.cat((first.neighbors.long(), first.num_vertices + second.neighbors.long()))
    return tg.Graph(
        offset,
        neighbors,
        _filled([first.weights, second.weights], [first.num_arcs, second.num_arcs]),
        directed=graph.directed,
    )


def union(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """`graph` and `other` side by side with the original ids of both, as networkx.union, without columns; no id may be
    in both.

    Raises ArgumentError for an id in both graphs, and for a directed and an undirected graph; `compose` is the union of
    graphs of the same vertices.

    >>> graph = tg.Graph.from_edges([0], [1], vertices=["ann", "bob"])
    >>> other = tg.Graph.from_edges([0], [1], vertices=["eve", "joe"])
    >>> tg.algorithms.union(graph, other).vertices.tolist()
    ['ann', 'bob', 'eve', 'joe']
    """
    sides = disjoint_union(graph, other)
    ids = [_ids(graph), _ids(other)]
    if all(isinstance(values, Tensor) for values in ids):
        vertices: Any = torch.cat([values.to(graph.device) for values in ids])
        repeated = len(vertices.unique()) < len(vertices)
    else:
        vertices = np.array([*ids[0], *ids[1]], dtype=object)
        repeated = len(set(vertices.tolist())) < len(vertices)
    if repeated:
        raise tg.errors.ArgumentError(
            "other: has an original id that graph has, too; disjoint_union numbers the vertices anew, compose unites "
            "graphs of the same vertices"
        )
    return tg.Graph(sides.offset, sides.neighbors, sides.weights, vertices, graph.directed)


def complement(graph: tg.Graph) -> tg.Graph:
    """Graph of all missing edges: the arcs u -> v, u other than v, as networkx.complement, without columns.

    Raises ArgumentError for a graph of more than 46,340 vertices, whose complement is too large to hold.

    >>> tg.algorithms.complement(tg.generators.path(4)).num_edges
    3
    """
    n = graph.num_vertices
    if n * n > LARGEST:
        raise tg.errors.ArgumentError(
            f"graph: the complement of one of {n:,} vertices has about {n * n:,} arcs; take a smaller subgraph"
        )
    missing = torch.ones(n * n, dtype=torch.bool, device=graph.device)
    missing[keys(graph, n)[0]] = False
    missing[torch.arange(n, device=graph.device) * (n + 1)] = False
    return graph_of(missing.nonzero().flatten(), None, n, graph)


def _joined(
    parts: Sequence[tuple[tuple[Tensor, Tensor | None], Tensor | None]], width: int, like: tg.Graph
) -> tg.Graph:
    """The graph of some arcs of each part, which are disjoint; without weights where no part has any."""
    found = [key if kept is None else key[kept] for (key, _), kept in parts]
    held = [weights if kept is None or weights is None else weights[kept] for (_, weights), kept in parts]
    key, order = torch.cat(found).sort()
    weights = _filled(held, [len(part) for part in found])
    return graph_of(key, None if weights is None else weights[order], width, like)


def _filled(held: Sequence[Tensor | None], sizes: Sequence[int]) -> Tensor | None:
    """Weights one after the other, ones where only others are there; None without any. Raises ArgumentError for
    integers beside floats that cannot hold them."""
    there = [weights for weights in held if weights is not None]
    if not there:
        return None
    given = zip(held, sizes, strict=True)
    joined = torch.cat([there[0].new_ones(size) if weights is None else weights for weights, size in given])
    exact = 2 / torch.finfo(joined.dtype).eps if joined.is_floating_point() else torch.inf
    for weights in there:
        if not weights.is_floating_point() and len(weights) and exact < torch.inf:
            largest = max(abs(int(end)) for end in torch.aminmax(weights))
            if largest > exact:
                raise tg.errors.ArgumentError(
                    f"other: integers as large as {largest} beside {joined.dtype} weights would be rounded; convert one"
                )
    return joined


def _ids(graph: tg.Graph) -> Any:
    return graph.ids(torch.arange(graph.num_vertices, device=graph.device))


def _same_direction(graph: tg.Graph, other: tg.Graph) -> None:
    if graph.directed != other.directed:
        kinds = ["directed" if g.directed else "undirected" for g in (graph, other)]
        raise tg.errors.ArgumentError(f"other: is {kinds[1]} and graph {kinds[0]}; pass to_undirected() of one")


def _same_vertices(graph: tg.Graph, other: tg.Graph, grows: bool = False) -> int:
    """The number of vertices of both graphs, of the larger one where it `grows`."""
    _same_direction(graph, other)
    plain = graph.vertices is None and other.vertices is None
    if graph.num_vertices != other.num_vertices and not (grows and plain):
        raise tg.errors.ArgumentError(
            f"other: has {other.num_vertices} vertices and graph {graph.num_vertices}; build it with the same vertices"
        )
    if not plain and list(_ids(graph)) != list(_ids(other)):
        raise tg.errors.ArgumentError("other: its original ids differ from those of graph; give both the same order")
    return max(graph.num_vertices, other.num_vertices)
