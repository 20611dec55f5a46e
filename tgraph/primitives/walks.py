"""Random walks along the arcs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.walks import walks as operators
from tgraph.primitives import weights as kinds


def random_walks(
    graph: Graph,
    start: Tensor,
    length: int,
    key: int,
    *,
    weighted: bool = False,
    p: float = 1.0,
    q: float = 1.0,
    restart: float = 0.0,
) -> Tensor:
    """Walks of `length` steps from each vertex of `start` [k], int64 [k, length + 1]; where no arc leads on they stay.

    A step takes any arc alike, or with `weighted` by its weight. `p` and `q` other than 1 make it depend on the vertex
    before, t: the arc back to t counts 1 / p of its weight, those to vertices that t has no arc to 1 / q. With
    probability `restart` a step goes back to the start. Walk i depends on `key`, a stream of `tg.random.key`, and on i:
    not on the backend, the device or the number of threads.

    Raises ArgumentError for starts that are no vertices, weights that are negative, missing or not finite, and numbers
    out of their range.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> tg.primitives.walks.random_walks(graph, torch.tensor([0, 2]), 4, tg.random.key(7))
    tensor([[0, 1, 2, 0, 1],
            [2, 0, 1, 2, 0]])
    """
    if length < 0:
        raise ArgumentError(f"length: must not be negative, got {length}")
    for name, value in (("p", p), ("q", q)):
        if not 0 < value < math.inf:
            raise ArgumentError(f"{name}: must be finite and above 0, got {value}")
    if not 0 <= restart <= 1:
        raise ArgumentError(f"restart: must be between 0 and 1, got {restart}")
    start = graph.as_vertices(start, "start")
    graph.ensure_valid()
    total = _running_weights(graph) if weighted else None
    graph = graph.decoded()
    return operators.random_walks(
        graph.offset, graph.neighbors, total, start, length, key, float(1 / p), float(1 / q), float(restart)
    )


def _running_weights(graph: Graph) -> Tensor:
    """Running sums of the weights over all arcs, float64 [m], kept with the graph."""
    if graph.weight_dtype is None:
        raise ArgumentError("weighted: the graph has no weights; leave weighted=False")
    kinds.check(graph, "measures", "walks")

    def compute() -> Tensor:
        weights = graph.decoded().weights
        assert weights is not None
        return weights.detach().to(torch.float64).cumsum(0)

    return graph.kept("running_weights", compute)
