"""Scores of pairs of nodes by their common neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import degrees, row_entries, row_of_arcs, simple
from tgraph.networkx.functions._nodes import names, node_values, numbers, python_sums
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements
from tgraph.primitives.row_similarity import common_neighbors

PAIRS_AT_ONCE = 1 << 15
Score = Callable[[Tensor, Tensor], list[Any]]
Ends = tuple[Any, Any, Tensor, Tensor]


def _predictions(G: Any, ebunch: Iterable[tuple[Any, Any]] | None, score: Score) -> Iterator[tuple[Any, Any, Any]]:
    """(u, v, score) for each pair, by default each that no edge joins; scores of some pairs at a time."""
    if ebunch is None:
        pairs = iter(nx.non_edges(G))
        return _scored((_ends(G, batch) for batch in iter(lambda: list(islice(pairs, PAIRS_AT_ONCE)), [])), score)
    ebunch = list(ebunch)
    try:
        first, second, u, v = _ends(G, ebunch)
    except NoNode:
        missing = next(node for pair in ebunch for node in pair if node not in G)
        raise nx.NodeNotFound(f"Node {missing} not in G.") from None
    parts = (slice(begin, begin + PAIRS_AT_ONCE) for begin in range(0, len(ebunch), PAIRS_AT_ONCE))
    return _scored(((first[part], second[part], u[part], v[part]) for part in parts), score)


def _ends(G: Any, pairs: list[tuple[Any, Any]]) -> Ends:
    """The first nodes of pairs, the second ones, and the vertices of both."""
    first, second = zip(*pairs, strict=True) if pairs else ((), ())
    return first, second, numbers(G, first), numbers(G, second)


def _scored(parts: Iterable[Ends], score: Score) -> Iterator[tuple[Any, Any, Any]]:
    for first, second, u, v in parts:
        try:
            values = score(u, v)
        except (nx.NetworkXException, ZeroDivisionError):  # of one pair: the pairs before it have scores
            for place, pair in enumerate(zip(first, second, strict=True)):
                yield *pair, *score(u[place : place + 1], v[place : place + 1])
        else:
            yield from zip(first, second, values, strict=True)


def common(graph: tg.Graph, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """(pair, vertex) for each common neighbour of the pairs (u, v), the two themselves among them where they are."""
    n, offset, neighbors = graph.num_vertices, graph.offset, graph.neighbors
    key = graph.kept("networkx arc keys", lambda: row_of_arcs(offset) * n + neighbors)
    degree = graph.out_degree
    shorter = torch.where(degree[u] <= degree[v], u, v)
    pair, arc = row_entries(offset, shorter)
    vertex = neighbors[arc].to(torch.int64)
    wanted = (u + v - shorter)[pair] * n + vertex
    met = key[torch.searchsorted(key, wanted).clamp(max=len(key) - 1)] == wanted if len(key) else wanted >= 0
    return pair[met], vertex[met]


def _count(G: Any, u: Tensor, v: Tensor) -> Tensor:
    """The common neighbours of the pairs (u, v) but u and v."""
    return common_neighbors(simple(G), torch.stack((u, v), 1))


def _sum(values: Tensor, pair: Tensor, vertex: Tensor, count: int) -> list[float]:
    return python_sums(torch.zeros(count, dtype=torch.float64).index_add_(0, pair, values[vertex]))


@implements(cost="superlinear", given={"ebunch": "local"})
def jaccard_coefficient(G, ebunch=None):
    def score(u: Tensor, v: Tensor) -> list[Any]:
        degree, graph = G.structure.out_degree, simple(G)
        count = _count(G, u, v)
        every = count if graph is G.structure else common_neighbors(G.structure, torch.stack((u, v), 1))
        union = degree[u] + degree[v] - every
        found = count.double() / union.clamp(min=1)
        return found.tolist() if bool(union.all()) else _zero(found, union)

    return _predictions(G, ebunch, score)


def _zero(values: Tensor, where: Tensor) -> list[Any]:
    """The values, the integer 0 elsewhere, as networkx has it."""
    return [value if counts else 0 for value, counts in zip(values.tolist(), where.tolist(), strict=True)]


@cached
def _inverse_degree(G: Any, logarithm: bool = False) -> Tensor:
    """The inverse of the degree of each node, or of its logarithm, float64 [n]."""
    degree = degrees(G).to(torch.float64)
    return 1 / (degree.log() if logarithm else degree)


def _weighed(G: Any, ebunch: Any, weight: Tensor) -> Iterator[tuple[Any, Any, Any]]:
    """The weights of the common neighbours of each pair added."""
    graph = simple(G)

    def score(u: Tensor, v: Tensor) -> list[Any]:
        found = python_sums(common_neighbors(graph, torch.stack((u, v), 1), weight))
        if torch.inf in found:
            raise ZeroDivisionError("float division by zero")  # the logarithm of a degree of 1
        return found

    return _predictions(G, ebunch, score)


@implements(cost="superlinear", given={"ebunch": "local"})
def resource_allocation_index(G, ebunch=None):
    return _weighed(G, ebunch, _inverse_degree(G))


@implements(cost="superlinear", given={"ebunch": "local"})
def adamic_adar_index(G, ebunch=None):
    return _weighed(G, ebunch, _inverse_degree(G, True))


@implements(cost="superlinear", given={"ebunch": "local"})
def preferential_attachment(G, ebunch=None):
    degree = degrees(G)
    return _predictions(G, ebunch, lambda u, v: (degree[u] * degree[v]).tolist())


@implements(cost="superlinear", given={"ebunch": "local"})
def common_neighbor_centrality(G, ebunch=None, alpha=0.8):
    def score(u: Tensor, v: Tensor) -> list[Any]:
        if bool((u == v).any()):
            raise nx.NetworkXAlgorithmError("Self loops are not supported")
        count = _count(G, u, v)
        if alpha == 1:
            return count.tolist()
        far = torch.empty(len(u), dtype=torch.float64)
        for source in u.unique().tolist():
            depth = algorithms.bfs(G.structure, source)
            far[u == source] = depth[v[u == source]].to(torch.float64)
        far = torch.where(far < 0, torch.inf, far)
        return (alpha * count.double() + (1 - alpha) * len(G) / far).tolist()

    return _predictions(G, ebunch, score)


def _communities(G: Any, attribute: Any) -> Callable[[Tensor], Tensor]:
    """The function that gives the community of vertices, as numbers. It raises NetworkXAlgorithmError for a vertex
    without one."""
    index: dict[Any, int] = {MISSING: -1}
    try:
        numbered = [index.setdefault(value, len(index)) for value in node_values(G, attribute, MISSING)]
    except TypeError as fault:
        raise NotImplementedError("communities that cannot be hashed") from fault
    number = torch.tensor(numbered, dtype=torch.int64)

    def of(vertices: Tensor) -> Tensor:
        found = number[vertices]
        if bool((found < 0).any()):
            node = names(G, vertices[found < 0][:1])[0]
            raise nx.NetworkXAlgorithmError(f"No community information available for Node {node}")
        return found

    return of


def _within(G: Any, of: Callable[[Tensor], Tensor], u: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(mask of the pairs in one community, then for the common neighbours of these: pair, vertex, mask of those in it,
    too)"""
    community = of(u)
    together = community == of(v)
    pair, vertex = common(G.structure, u, v)
    counts = together[pair] & (vertex != u[pair]) & (vertex != v[pair])
    pair, vertex = pair[counts], vertex[counts]
    return together, pair, vertex, of(vertex) == community[pair]


@implements(cost="superlinear", given={"ebunch": "local"})
def cn_soundarajan_hopcroft(G, ebunch=None, community="community"):
    of = _communities(G, community)

    def score(u: Tensor, v: Tensor) -> list[Any]:
        _, pair, _, inside = _within(G, of, u, v)
        return (_count(G, u, v) + pair[inside].bincount(minlength=len(u))).tolist()

    return _predictions(G, ebunch, score)


@implements(cost="superlinear", given={"ebunch": "local"})
def ra_index_soundarajan_hopcroft(G, ebunch=None, community="community"):
    of, weight = _communities(G, community), _inverse_degree(G)

    def score(u: Tensor, v: Tensor) -> list[Any]:
        _, pair, vertex, inside = _within(G, of, u, v)
        return _sum(weight, pair[inside], vertex[inside], len(u))

    return _predictions(G, ebunch, score)


@implements(cost="superlinear", given={"ebunch": "local"})
def within_inter_cluster(G, ebunch=None, delta=0.001, community="community"):
    if delta <= 0:
        raise nx.NetworkXAlgorithmError("Delta must be greater than zero")
    of = _communities(G, community)

    def score(u: Tensor, v: Tensor) -> list[Any]:
        together, pair, _, inside = _within(G, of, u, v)
        within = pair[inside].bincount(minlength=len(u))
        outside = pair[~inside].bincount(minlength=len(u))
        return _zero(within.double() / (outside.double() + delta), together)

    return _predictions(G, ebunch, score)
