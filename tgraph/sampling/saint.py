"""GraphSAINT: vertices of a batch, which has all edges between them (Zeng et al., "GraphSAINT: Graph sampling based
inductive learning method", ICLR 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.kernels.operators.sampling.places import number_vertices
from tgraph.primitives.walks import random_walks


def saint_nodes(graph: Graph, count: int, key: int) -> Tensor:
    """The distinct vertices, ascending, of `count` draws by out-degree. `key`, an int, seeds the draws.

    >>> tg.sampling.saint_nodes(tg.generators.star(1), 8, tg.random.key(7))
    tensor([0, 1])
    """
    arcs = random.below(key, torch.arange(count if graph.num_arcs else 0, device=graph.device), graph.num_arcs)
    return _rows(graph, arcs).unique()


def saint_edges(graph: Graph, count: int, key: int) -> Tensor:
    """The distinct ends, ascending, of `count` distinct edges u -> v, drawn by 1 / out-degree(u) + 1 / in-degree(v).
    `key`, an int, seeds the draws.

    Each draw takes a uniform vertex and one of its out-arcs or in-arcs: no sums over all edges are needed. For at least
    a quarter of all edges, the largest random keys are taken, with the same probabilities (Efraimidis and Spirakis,
    "Weighted random sampling with a reservoir", IPL 2006).

    >>> tg.sampling.saint_edges(tg.generators.star(3), 3, tg.random.key(7))
    tensor([0, 1, 2, 3])
    """
    arcs = _many_edges(graph, count, key) if 4 * count >= graph.num_arcs else _few_edges(graph, count, key)
    return torch.cat((_rows(graph, arcs), graph.decoded().neighbors[arcs].long())).unique()


def saint_walks(graph: Graph, count: int, length: int, key: int) -> Tensor:
    """The distinct vertices, ascending, of `count` uniform walks of `length` steps. `key`, an int, seeds the draws.

    >>> tg.sampling.saint_walks(tg.Graph.from_edges([0, 1, 2], [1, 2, 0]), 1, 2, tg.random.key(7))
    tensor([0, 1, 2])
    """
    draws = torch.arange(count if graph.num_vertices else 0, device=graph.device)
    start = random.below(random.key(key, 0), draws, graph.num_vertices)
    return random_walks(graph, start, length, random.key(key, 1)).unique()


def _rows(graph: Graph, arcs: Tensor) -> Tensor:
    """The row of each arc."""
    return torch.searchsorted(graph.decoded().offset, arcs, right=True) - 1


def _many_edges(graph: Graph, count: int, key: int) -> Tensor:
    arc = torch.arange(graph.num_arcs, device=graph.device)
    weight = 1 / graph.out_degree[_rows(graph, arc)].double()
    weight += 1 / graph.in_degree[graph.decoded().neighbors.long()].double()
    keys = (random.uniform(key, arc) + 2.0**-54).log() / weight
    return keys.topk(min(count, graph.num_arcs)).indices


def _few_edges(graph: Graph, count: int, key: int) -> Tensor:
    """The first `count` distinct arcs of repeated draws: a uniform vertex, and one of its in- or out-arcs."""
    arcs = torch.empty(0, dtype=torch.int64, device=graph.device)
    chosen = 0
    while len(arcs) < count:
        number = torch.arange(chosen, chosen + 4 * count, device=graph.device)
        chosen += 4 * count
        _, arcs = number_vertices(arcs, _arcs_at_vertices(graph, number, key))
    return arcs[:count]


def _arcs_at_vertices(graph: Graph, number: Tensor, key: int) -> Tensor:
    vertex = random.below(random.key(key, 0), number, graph.num_vertices)
    is_out = random.uniform(random.key(key, 1), number) < 0.5
    degree = graph.out_degree[vertex].where(is_out, graph.in_degree[vertex])
    begin = graph.decoded().offset[vertex].where(is_out, graph.transpose().decoded().offset[vertex])
    place = begin + random.below(random.key(key, 2), number, degree)
    back = graph.decoded().transpose_permutation[place.where(~is_out & (degree > 0), 0)]
    return place.where(is_out, back)[degree > 0]
