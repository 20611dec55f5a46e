"""How much the neighbourhoods of two vertices overlap, as parts of their sizes: with c common neighbours of vertices
of degrees a and b, Jaccard c / (a + b - c), overlap c / min(a, b), Sorensen 2 c / (a + b) and cosine c / sqrt(a b)
(Jaccard 1912; Szymkiewicz 1934, Simpson 1943; Dice 1945, Sorensen 1948; Salton 1971).

Common neighbours are counted by intersecting the rows of both vertices: a step for each neighbour of the one that has
fewer, at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.similarity._neighbors import pairs_of, simple


def jaccard(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The Jaccard coefficient of the neighbourhoods of each pair of vertices, float64 [k]; 0 where both are empty.

    As networkx.jaccard_coefficient. `pairs` are vertex indices [k, 2], by default all pairs u < v without an edge, in
    order. For undirected graphs; parallel edges count once, and a vertex with a self-loop is its own neighbour.
    `backend` names the kernels.

    >>> graph = tg.generators.path(4)
    >>> tg.algorithms.jaccard(graph, [[0, 2], [1, 3]])
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    return _similarity(graph, pairs, lambda a, b, common: a + b - common, backend)


def overlap(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The overlap coefficient of the neighbourhoods of each pair of vertices, float64 [k]; 0 where one is empty.

    Parameters are those of `jaccard`.

    >>> tg.algorithms.overlap(tg.generators.path(4), [[0, 2], [0, 3]])
    tensor([1., 0.], dtype=torch.float64)
    """
    return _similarity(graph, pairs, lambda a, b, common: torch.minimum(a, b), backend)


def sorensen(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The Sorensen coefficient of the neighbourhoods of each pair of vertices, float64 [k]; 0 where both are empty.

    Parameters are those of `jaccard`.

    >>> tg.algorithms.sorensen(tg.generators.path(4), [[0, 2], [0, 3]]).round(decimals=3)
    tensor([0.6670, 0.0000], dtype=torch.float64)
    """
    return _similarity(graph, pairs, lambda a, b, common: (a + b) / 2, backend)


def cosine(graph: tg.Graph, pairs: Any = None, *, backend: str = "auto") -> Tensor:
    """The cosine of the rows of each pair of vertices, float64 [k]; 0 where one is empty. Also called the Salton index.

    Parameters are those of `jaccard`.

    >>> tg.algorithms.cosine(tg.generators.path(4), [[0, 2], [0, 3]]).round(decimals=3)
    tensor([0.7070, 0.0000], dtype=torch.float64)
    """
    return _similarity(graph, pairs, lambda a, b, common: torch.sqrt(a * b), backend)


def _similarity(graph: tg.Graph, pairs: Any, size: Callable[[Tensor, Tensor, Tensor], Tensor], backend: str) -> Tensor:
    """Common neighbours by a size that follows from both degrees and their number."""
    graph = simple(graph)
    pairs = pairs_of(graph, pairs)
    common = tg.primitives.row_similarity.common_neighbors(graph, pairs, backend=backend).to(torch.float64)
    first, second = graph.out_degree.to(torch.float64)[pairs].unbind(1)
    return torch.where(common > 0, common / size(first, second, common), 0)
