"""Layouts whose distances are those in the graph, of small graphs (Kamada and Kawai, "An algorithm for drawing general
undirected graphs", 1989), by majorization (Gansner, Koren and North, "Graph drawing by stress majorization", 2004)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random

AT_ONCE = 1 << 22  # entries of a batch of matrices
ITERATIONS = 120
STARTS, FEW, MANY = 6, 40, 1000  # starts of up to that many graphs of few vertices, of which the best end is taken
EXACT = 3  # vertices that classical scaling places as they are to be


def stress(hops: Tensor, key: int) -> Tensor:
    """Positions, float64 [graphs, n, 2], of connected graphs of n > 1 vertices each, whose edges are about 1 long, from
    the distances of all pairs, [graphs, n, n]. The sum of (|x - y| / hops - 1)^2 over all pairs x, y falls in each
    iteration. `key` determines small moves of the start, which part what is symmetric."""
    parts = [_majorized(part, key) for part in hops.split(max(1, AT_ONCE // hops[0].numel()))]
    return torch.cat(parts)


def hops_of(linked: Tensor) -> Tensor:
    """The distances of all pairs, float64, of graphs with the symmetric adjacency matrices `linked`, bool
    [graphs, n, n] (Floyd, "Algorithm 97: Shortest path", 1962)."""
    hops = torch.full(linked.shape, float("inf"), dtype=torch.float64).masked_fill_(linked, 1)
    hops.diagonal(dim1=1, dim2=2).zero_()
    for through in range(linked.shape[1]):
        torch.minimum(hops, hops[:, :, through, None] + hops[:, through, None, :], out=hops)
    return hops


def _majorized(hops: Tensor, key: int) -> Tensor:
    count, n = hops.shape[:2]
    other = ~torch.eye(n, dtype=torch.bool)
    weight = torch.where(other, hops.clamp(min=1) ** -2, 0)
    # The inverse of the Laplacian of the weights, but for the constant vector.
    inverse = torch.linalg.inv(_laplacian(weight) + 1 / n)
    start, best = _classical(hops), torch.full((count,), float("inf"), dtype=torch.float64)
    found = start
    for number in range(STARTS if EXACT < n <= FEW and count <= MANY else 1):
        move = random.uniform(random.key(key, number), torch.arange(count * n * 2)).reshape(count, n, 2) - 0.5
        place = start + 0.1 * move if number == 0 else move * n**0.5
        for _ in range(ITERATIONS if n > EXACT else 10):
            length = torch.cdist(place, place).clamp_(min=1e-9)
            place = inverse @ (_laplacian(weight * hops / length) @ place)
        left = (weight * (torch.cdist(place, place) - hops) ** 2).sum((1, 2))
        better = left < best - 1e-6
        found, best = torch.where(better[:, None, None], place, found), torch.where(better, left, best)
    return found


def _laplacian(weight: Tensor) -> Tensor:
    return torch.diag_embed(weight.sum(2)) - weight


def _classical(hops: Tensor) -> Tensor:
    """The start: classical scaling (Torgerson, "Multidimensional scaling", 1952)."""
    square = hops**2
    inner = square - square.mean(1, keepdim=True) - square.mean(2, keepdim=True) + square.mean((1, 2), keepdim=True)
    values, vectors = torch.linalg.eigh(-inner / 2)
    return vectors[..., -2:] * values[:, None, -2:].clamp(min=0).sqrt()
