"""Greedy colouring: each vertex in turn gets the smallest colour that no neighbour has (Welsh and Powell, "An upper
bound for the chromatic number of a graph", 1967; all vertices at once whose neighbours before them are coloured:
Jones and Plassmann, "A parallel graph coloring heuristic", 1993). The order decides how many colours it takes.
O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg

STRATEGIES = ("largest_first", "smallest_last", "random_sequential")


def greedy_color(graph: tg.Graph, strategy: str = "largest_first", *, seed: int = 0, backend: str = "auto") -> Tensor:
    """Greedy colouring, in which neighbours differ: a colour for each vertex, int64 [n] from 0; self-loops do not
    count.

    `strategy`, the order in which vertices are coloured: "largest_first", by descending degree; "smallest_last", the
    reverse of peeling, which takes at most one colour more than the largest core number; "random_sequential", at random
    by the `seed`. Ties go to the smallest vertex.
    Raises ArgumentError for a directed graph and an unknown strategy.
    `backend` names the kernels.

    >>> tg.algorithms.greedy_color(tg.generators.wheel(5))
    tensor([0, 1, 2, 1, 2])
    """
    if strategy not in STRATEGIES:
        raise tg.errors.ArgumentError(f"strategy: {strategy!r} is not one of {', '.join(map(repr, STRATEGIES))}")
    tg.primitives.components.check_undirected(graph)
    if strategy == "random_sequential":
        order = tg.random.permutation(tg.random.key(seed), graph.num_vertices, graph.device)
    else:
        rank = graph.out_degree if strategy == "largest_first" else _layers(graph)
        falling = rank.max() - rank if len(rank) else rank
        order = tg.primitives.level_accumulate.levels(falling)[0].to(torch.int64)  # equal ones in ascending order
    return tg.primitives.coloring.color_in_order(graph, order, backend=backend)


def _layers(graph: tg.Graph) -> Tensor:
    """The layers in which peeling removes the vertices: none has more neighbours in its own and later ones than its
    core number."""
    return tg.primitives.k_core.onion_layers(graph.to_undirected().without_self_loops().decoded())[1]
