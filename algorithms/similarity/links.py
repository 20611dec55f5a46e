"""Scores by which links are predicted (Liben-Nowell and Kleinberg, "The link-prediction problem for social networks",
2007): the number of common neighbours, and their sum with rarer ones counting more: 1 / log(degree) (Adamic and Adar,
2003) or 1 / degree (resource allocation; Zhou, Lu and Zhang, 2009). Preferential attachment is the product of both
degrees (Barabasi and Albert, 1999).

Rows of both vertices are intersected: a step for each neighbour of the one that has fewer, at most.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.similarity._neighbors import pairs_of, simple


def common_neighbors(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The number of common neighbours of each pair of vertices, int64 [k].

    `pairs` are vertex indices [k, 2], by default all pairs u < v without an edge, in order. For undirected graphs;
    parallel edges count once, and a vertex with a self-loop is its own neighbour. `backend` names the kernels.

    >>> graph = tg.generators.cycle(4)
    >>> tg.algorithms.common_neighbors(graph)
    tensor([2, 2])
    >>> tg.algorithms.common_neighbors(graph, [[0, 1], [0, 2]])
    tensor([0, 2])
    """
    graph = simple(graph)
    return tg.primitives.row_similarity.common_neighbors(graph, pairs_of(graph, pairs), backend=backend)


def adamic_adar(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The sum of 1 / log(degree) over the common neighbours of each pair of vertices, float64 [k], as
    networkx.adamic_adar_index where there are no self-loops: a vertex with one is its own neighbour here.

    Parameters are those of `common_neighbors`.

    >>> graph = tg.generators.path(4)
    >>> tg.algorithms.adamic_adar(graph, [[0, 2], [0, 3]]).round(decimals=3)
    tensor([1.4430, 0.0000], dtype=torch.float64)
    """
    return _weighted(graph, pairs, backend, lambda degree: 1 / degree.log())


def resource_allocation(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The sum of 1 / degree over the common neighbours of each pair of vertices, float64 [k], as
    networkx.resource_allocation_index where there are no self-loops: a vertex with one is its own neighbour here.

    Parameters are those of `common_neighbors`.

    >>> tg.algorithms.resource_allocation(tg.generators.path(4), [[0, 2], [0, 3]])
    tensor([0.5000, 0.0000], dtype=torch.float64)
    """
    return _weighted(graph, pairs, backend, torch.reciprocal)


def preferential_attachment(graph: tg.Graph, pairs: Any = None) -> Tensor:
    """The product of the degrees of each pair of vertices, int64 [k], as networkx.preferential_attachment.

    Parameters are those of `common_neighbors`.

    >>> tg.algorithms.preferential_attachment(tg.generators.path(4), [[0, 2], [1, 2]])
    tensor([2, 4])
    """
    graph = simple(graph)
    pairs = pairs_of(graph, pairs)
    return loops_twice(graph)[pairs].prod(1)


def loops_twice(graph: tg.Graph) -> Tensor:
    """The degree of each vertex, int64 [n], to which a self-loop adds two, as in networkx."""
    return 2 * graph.out_degree - graph.without_self_loops().out_degree


def _weighted(graph: tg.Graph, pairs: Any, backend: str, weight: Any) -> Tensor:
    """The sum of a weight of their degree over common neighbours other than the two vertices, as networkx counts."""
    graph = simple(graph)
    weights = weight(loops_twice(graph).to(torch.float64))
    pairs, others = pairs_of(graph, pairs), graph.without_self_loops()
    return tg.primitives.row_similarity.common_neighbors(others, pairs, weights, backend=backend)
