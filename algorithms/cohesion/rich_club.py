"""The rich-club coefficient: how densely the vertices of large degree are joined (Zhou and Mondragon, IEEE
Communications Letters 2004; Colizza et al., Nature Physics 2006).

Edges and vertices are counted by degree, from the largest down: O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def rich_club_coefficient(graph: tg.Graph) -> Tensor:
    """Fraction of the pairs of vertices above each degree k that are joined, float64 [K]: K is the least k above which
    there are fewer than two vertices, as networkx with `normalized=False`.

    Undirected graphs only; parallel edges count once, self-loops not at all.

    >>> tg.algorithms.rich_club_coefficient(tg.generators.wheel(5)).round(decimals=3)
    tensor([0.8000, 0.8000, 0.8000], dtype=torch.float64)
    """
    graph = tg.primitives.simple_graph.simple(graph)
    degree = graph.out_degree
    lower = torch.minimum(degree.repeat_interleave(degree, output_size=graph.num_arcs), degree[graph.neighbors])
    if not graph.num_arcs:
        return torch.zeros(0, dtype=torch.float64, device=graph.device)
    vertices, arcs = _above(degree), _above(lower, len(torch.bincount(degree)))
    some = vertices > 1
    pairs = vertices * (vertices - 1)
    return arcs[some].to(torch.float64) / pairs[some]


def _above(values: Tensor, size: int = 0) -> Tensor:
    """How many of the values are larger than k, for each k."""
    return len(values) - torch.bincount(values, minlength=size).cumsum(0)
