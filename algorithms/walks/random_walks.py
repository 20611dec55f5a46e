"""Random walks: sequences of vertices, each joined to the one before by an arc that is drawn at random.

    uniform          any arc alike, or in proportion to the weights
    node2vec         in proportion to weight * bias: 1 / p back to the vertex before, 1 to its out-neighbours, 1 / q to
                     all others (Grover and Leskovec, "node2vec: scalable feature learning for networks", KDD 2016)
    with restart     with some probability back to the start instead (Tong, Faloutsos and Pan, ICDM 2006)

A step is one draw, O(1), or O(log degree) by weights. The biases of node2vec are never computed for all neighbours: one
is drawn without them, and kept with the probability that they give it, or another one is drawn (Yang et al.,
"KnightKing", SOSP 2019). A walk where no arc leads on stays, as torch_cluster's random_walk does.

Each walk draws from a stream of numbers of its own, by the seed and its row: the same on every machine and device.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


def random_walks(
    graph: tg.Graph, start: Any = None, length: int = 80, *, walks: int = 1, weighted: bool = False, seed: int = 0
) -> Tensor:
    """Random walks from each vertex of `start`: of `length` steps, from all by default, int64 [k * walks, length + 1].

    The first k rows are from each start once, the next k again, `walks` times. `weighted`, an arc is taken in
    proportion to its weight, those of weight 0 never; parallel arcs count each. The same `seed` gives the same walks.
    Raises ArgumentError for a start that is no vertex, weights that are negative, missing or not finite, and negative
    numbers.

    >>> tg.algorithms.random_walks(tg.Graph.from_edges([0, 1, 2], [1, 2, 0]), [0, 1], length=4)
    tensor([[0, 1, 2, 0, 1],
            [1, 2, 0, 1, 2]])
    """
    return _walks(graph, start, length, walks, seed, weighted=weighted)


def node2vec_walks(
    graph: tg.Graph,
    start: Any = None,
    length: int = 80,
    *,
    p: float = 1.0,
    q: float = 1.0,
    walks: int = 1,
    weighted: bool = False,
    seed: int = 0,
) -> Tensor:
    """Random walks that stay near or lead away by `p` and `q`: as `random_walks`, but that an arc back to the vertex
    before counts 1 / `p`, and an arc to vertices that it has no arc to 1 / `q`. A small p stays near the start, a small
    q leads away from it.

    `start`, `length`, `walks`, `weighted`, `seed` and errors are those of `random_walks`; p and q are above 0.

    >>> tg.algorithms.node2vec_walks(tg.Graph.from_edges([0, 1, 2], [1, 2, 0]), 0, length=4, q=0.5)
    tensor([[0, 1, 2, 0, 1]])
    """
    return _walks(graph, start, length, walks, seed, weighted=weighted, p=p, q=q)


def walks_with_restart(
    graph: tg.Graph,
    start: Any = None,
    length: int = 80,
    *,
    restart: float = 0.15,
    walks: int = 1,
    weighted: bool = False,
    seed: int = 0,
) -> Tensor:
    """Random walks that return to their start with probability `restart` at each step: as `random_walks`, but that a
    step without arcs leads to the start, too. The vertices that walks from one start are at are distributed as its
    personalised PageRank, after some steps.

    `start`, `length`, `walks`, `weighted`, `seed` and errors are those of `random_walks`.

    >>> tg.algorithms.walks_with_restart(tg.Graph.from_edges([0, 1], [1, 2]), 0, length=9, restart=0.5)
    tensor([[0, 0, 1, 0, 0, 0, 1, 0, 0, 1]])
    """
    return _walks(graph, start, length, walks, seed, weighted=weighted, restart=restart)


def _walks(graph: tg.Graph, start: Any, length: int, walks: int, seed: int, **rule: Any) -> Tensor:
    if walks < 0:
        raise tg.errors.ArgumentError(f"walks: must not be negative, got {walks}")
    begin = (
        torch.arange(graph.num_vertices, device=graph.device) if start is None else graph.as_vertices(start, "start")
    )
    return tg.primitives.walks.random_walks(graph, begin.flatten().repeat(walks), length, tg.random.key(seed), **rule)
