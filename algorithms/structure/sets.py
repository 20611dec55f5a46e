"""Graphs as sets of arcs: their union, intersection, differences and complement.

Arcs are compared as sorted numbers, in a search for each, and vertices by their original ids. Parallel arcs count
once, with the weight of the first. Columns follow where all arcs are those of one graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.structure._arcs import graph_of, keys, occurs, with_columns

Arcs = tuple[Tensor, Tensor | None]
Combine = Literal["first", "last", "sum", "min", "max"] | Callable[[Tensor, Tensor], Tensor]
LARGEST = 2**31  # pairs of vertices that `complement` looks at


def compose(graph: tg.Graph, other: tg.Graph, *, combine: Combine = "last") -> tg.Graph:
    """The graph of the arcs that are in either graph, as networkx.compose: weights are those of `other` where it has
    the arc, and columns are left out. Its vertices are those of `graph`, and then the further ones of `other`, by
    their original ids.

    combine : what becomes of the weights of an arc that is in both graphs: those of the "first" or the "last" graph,
        their "sum", "min" or "max", or function(weights [e] of `graph`, weights [e] of `other`), such as torch.mul.
        Arcs of a graph without weights have weight 1 beside those of the other.

    Raises ArgumentError for a directed and an undirected graph, another `combine`, and a sum that does not fit.

    >>> graph = tg.algorithms.compose(tg.Graph.from_edges([0], [1], [2]), tg.Graph.from_edges([0, 1], [1, 2], [5, 7]))
    >>> graph.to_edge_index(), graph.weights
    (tensor([[0, 1],
            [1, 2]]), tensor([5, 7]))
    """
    both = _Both(graph, other)
    return both.graph_of([both.only_first, *both.in_both(combine), both.only_last], combine)


def intersection(graph: tg.Graph, other: tg.Graph, *, combine: Combine = "first") -> tg.Graph:
    """The graph of the arcs that are in `graph` and in `other`, with the weights of the first. Its vertices are those
    that both have, by their original ids, as networkx.intersection.

    combine : what becomes of the weights, as for `compose`.

    Raises ArgumentError for a directed and an undirected graph, another `combine`, and a sum that does not fit.

    >>> graph, other = tg.Graph.from_edges([0, 1], [1, 2], [2, 3]), tg.Graph.from_edges([0, 1], [1, 0], [5, 7])
    >>> common = tg.algorithms.intersection(graph, other, combine=torch.mul)
    >>> common.to_edge_index().tolist(), common.weights
    ([[0], [1]], tensor([10]))
    """
    both, n = _Both(graph, other), graph.num_vertices
    found = _of_first(graph, both.graph_of(both.in_both(combine), combine))
    shared = torch.zeros(both.width, dtype=torch.bool, device=graph.device)
    shared[both.number] = True
    if bool(shared[:n].all()):
        return found
    part = found.subgraph(shared[:n])
    ids = None if graph.vertices is None else part.vertices
    return tg.Graph(part.offset, part.neighbors, part.weights, ids, part.directed).with_columns_of(part)


def difference(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs of `graph` that `other` has not, as networkx.difference. Its vertices are those of `graph`;
    they are compared by their original ids.

    Raises ArgumentError for a directed and an undirected graph.

    >>> graph, other = tg.generators.cycle(4), tg.generators.path(4)
    >>> tg.algorithms.difference(graph, other).to_edge_index()
    tensor([[0, 3],
            [3, 0]])
    """
    both = _Both(graph, other)
    return _of_first(graph, both.graph_of([both.only_first]))


def symmetric_difference(graph: tg.Graph, other: tg.Graph) -> tg.Graph:
    """The graph of the arcs that just one of `graph` and `other` has, as networkx.symmetric_difference; columns are
    left out. Its vertices are those of `compose`.

    Raises ArgumentError for a directed and an undirected graph.

    >>> graph, other = tg.Graph.from_edges([0, 1], [1, 2]), tg.Graph.from_edges([1, 2], [2, 0])
    >>> tg.algorithms.symmetric_difference(graph, other).to_edge_index()
    tensor([[0, 2],
            [1, 0]])
    """
    both = _Both(graph, other)
    return both.graph_of([both.only_first, both.only_last])


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
    number, vertices = _numbers(graph, other)
    if bool((number < graph.num_vertices).any()):
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


class _Both:
    """The arcs of two graphs as ascending keys u width + v with weights [e] or None: those that only the first has,
    those that only the last has, and those of both.

    width, vertices : the number of vertices that any of them has, and their original ids, None where there are none.
    number : int64, which of these the vertices of the last graph are.
    """

    def __init__(self, graph: tg.Graph, other: tg.Graph):
        _same_direction(graph, other)
        self.directed = graph.directed
        self.number, self.vertices = _numbers(graph, other)
        self.width = max(graph.num_vertices, int(self.number.max()) + 1 if len(self.number) else 0)
        mine, theirs = keys(graph, self.width), keys(other, self.width, self.number)
        in_last, in_first = occurs(mine[0], theirs[0]), occurs(theirs[0], mine[0])
        self.only_first, self.first = _some(mine, ~in_last), _some(mine, in_last)
        self.only_last, self.last = _some(theirs, ~in_first), _some(theirs, in_first)

    def in_both(self, combine: Combine) -> list[Arcs]:
        """The arcs of both, once with the weights that they get, or twice where `graph_of` is to merge them."""
        if combine == "first" or combine == "last":
            return [self.first if combine == "first" else self.last]
        if not callable(combine):
            if combine not in ("sum", "min", "max"):
                raise tg.errors.ArgumentError(
                    f"combine: {combine!r} is neither 'first', 'last', 'sum', 'min' nor 'max', nor a function"
                )
            return [self.first, self.last]
        key, count = self.first[0], len(self.first[0])
        held = _filled([self.first[1], self.last[1]], [count, count])
        weights = None if held is None else combine(held[:count], held[count:])
        if weights is not None and (not isinstance(weights, Tensor) or weights.shape != key.shape):
            found = list(weights.shape) if isinstance(weights, Tensor) else repr(weights)
            raise tg.errors.ArgumentError(
                f"combine: the function must return one weight for each arc, [{count}], got {found}"
            )
        return [(key, weights)]

    def graph_of(self, parts: Sequence[Arcs], combine: Combine = "first") -> tg.Graph:
        """The graph of several parts, without weights where no part has any."""
        key, weights = torch.cat([key for key, _ in parts]), [weights for _, weights in parts]
        source, target = key // max(self.width, 1), key % max(self.width, 1)
        found = tg.Graph.from_edges(
            source,
            target,
            _filled(weights, [len(key) for key, _ in parts]),
            num_vertices=self.width,
            multi=combine if combine in ("sum", "min", "max") else "keep",
        )
        return tg.Graph(found.offset, found.neighbors, found.weights, self.vertices, self.directed)


def _of_first(graph: tg.Graph, found: tg.Graph) -> tg.Graph:
    """Arcs of `graph`, of which vertices of another one are found as well, the last ones; with its columns."""
    offset = found.offset[: graph.num_vertices + 1]
    return with_columns(tg.Graph(offset, found.neighbors, found.weights, graph.vertices, graph.directed), graph)


def _some(arcs: Arcs, kept: Tensor) -> Arcs:
    key, weights = arcs
    return key[kept], None if weights is None else weights[kept]


def _numbers(graph: tg.Graph, other: tg.Graph) -> tuple[Tensor, Any]:
    """(int64: the number of each vertex of `other` among those of both graphs, the original ids of these or None): the
    vertices of `graph`, then the further ones of `other`."""
    if graph.vertices is None and other.vertices is None:
        return torch.arange(other.num_vertices, device=graph.device), None
    mine, theirs = _ids(graph), _ids(other)
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor):
        labels, others = (ids.tolist() if isinstance(ids, Tensor) else ids for ids in (mine, theirs))
        place = {label: number for number, label in enumerate(labels)}
        numbers = [place.setdefault(label, len(place)) for label in others]
        return torch.tensor(numbers, dtype=torch.int64, device=graph.device), list(place)
    mine, theirs = mine.to(graph.device), theirs.to(graph.device)
    ascending, order = mine.sort()
    found = torch.searchsorted(ascending, theirs)
    known = occurs(theirs, ascending)
    further = graph.num_vertices - 1 + (~known).cumsum(0)
    order = torch.cat((order, order.new_zeros(1)))  # where what is unknown is larger than all
    return torch.where(known, order[found], further), torch.cat((mine, theirs[~known]))


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
