"""Circular and spectral layouts."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.model.operators import aggregate


def circular(graph: Graph, *, order: Tensor | None = None) -> Tensor:
    """Positions of the vertices of `graph` on a circle of radius 1, float64 [n, 2], in ascending order or in the
    `order` [n] of vertices. Raises ArgumentError for an order of another length.

    >>> tg.drawing.circular(tg.generators.cycle(4)).round(decimals=3).abs()
    tensor([[1., 0.],
            [0., 1.],
            [1., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    n = graph.num_vertices
    place = torch.arange(n, device=graph.device)
    if order is not None:
        if order.shape != (n,):
            raise ArgumentError(f"order: expected [{n}], got {list(order.shape)}")
        place = torch.empty_like(place).index_copy_(0, order.to(torch.int64), place)
    angle = place.to(torch.float64) * (2 * math.pi / max(n, 1))
    return torch.stack((angle.cos(), angle.sin()), 1)


def spectral(graph: Graph, *, iterations: int = 300, seed: int = 0) -> Tensor:
    """Positions of the vertices of `graph` by the two eigenvectors of the normalised Laplacian with the smallest
    eigenvalues above 0, float64 [n, 2], each scaled to -1..1.

    Koren, "Drawing graphs by eigenvectors", 2005: by `iterations` of a block power iteration on a lazy random walk,
    from vectors drawn with the `seed`, with orthogonalisation, and Rayleigh-Ritz at the end. Directions are ignored,
    and isolated vertices are in the centre. The components of a disconnected graph are separate points. Raises
    ArgumentError for fewer than 0 iterations.

    >>> x = tg.drawing.spectral(tg.generators.barbell(4, 0))
    >>> (x[0] - x[1]).norm() < (x[0] - x[7]).norm()
    tensor(True)
    """
    if iterations < 0:
        raise ArgumentError(f"iterations: {iterations} is negative")
    both, n = graph.decoded().to_undirected().without_self_loops(), graph.num_vertices
    both = Graph(both.offset, both.neighbors, directed=False)
    degree = both.out_degree.to(torch.float64)
    root = degree.sqrt()
    constant = root / root.norm().clamp(min=1e-300)
    width = min(6, max(n - 1, 1))
    block = random.uniform(random.key(seed), torch.arange(n * width, device=graph.device)).reshape(n, width) - 0.5
    scale = (1 / root.clamp(min=1)).unsqueeze(1)

    def walk(x: Tensor) -> Tensor:
        x = (2 * x + scale * aggregate(both, scale * x, "sum")) / 3  # an eigenvalue of -1 becomes 1/3, not 0
        return x - constant[:, None] * (constant @ x)

    for step in range(iterations):
        block = walk(block)
        if step % 10 == 9 and n:
            block = torch.linalg.qr(block).Q
    if n:
        block = torch.linalg.qr(block).Q
        block = block @ torch.linalg.eigh(block.T @ walk(block)).eigenvectors.flip(1)
    place = torch.zeros(n, 2, dtype=torch.float64, device=graph.device)
    place[:, : min(2, width)] = (block * scale)[:, :2]
    place[degree == 0] = 0
    return place / place.abs().amax(0).clamp(min=1e-300) if n else place
