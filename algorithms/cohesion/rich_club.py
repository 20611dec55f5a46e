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
    tg.primitives.simple_graph.refuse_directed(graph)
    n, degree = graph.num_vertices, tg.primitives.mutual.counts(graph)[1]
    if not int(degree.sum()):
        return torch.zeros(0, dtype=torch.float64, device=graph.device)
    counts = torch.bincount(degree)
    joined = torch.zeros_like(counts)
    for arcs in tg.primitives.edges.in_parts(graph):
        key = torch.unique_consecutive((arcs.source * n + arcs.target)[arcs.source != arcs.target])
        joined += torch.bincount(torch.minimum(degree[key // n], degree[key % n]), minlength=len(counts))
    vertices, ends = (each.sum() - each.cumsum(0) for each in (counts, joined))  # above each degree
    some = vertices > 1
    pairs = vertices * (vertices - 1)
    return ends[some].to(torch.float64) / pairs[some]
