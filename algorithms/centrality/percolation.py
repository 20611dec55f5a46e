"""Percolation centrality: betweenness where each source counts by how percolated, infected say, it is (Piraveenan,
Prokopenko and Hossain 2013).

    percolation[v] = 1 / (n - 2) * sum over sources s of dependency of s on v * state[s] / (sum of states - state[v])
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import groups, with_lengths
from tgraph.algorithms.centrality.betweenness import dependencies


def percolation(graph: tg.Graph, states: Tensor | None = None, *, weighted: bool = False, **options: Any) -> Tensor:
    """Percolation centrality of every vertex, float64 [n].

    `states`, how percolated each vertex is, numbers [n] that are not negative; None is 1 for all. `weighted`, over the
    weights, as in `betweenness`. `options` go to `tgraph.run` for the searches. 0 in a graph of fewer than three
    vertices, and where all other states are 0.

    Raises ArgumentError for states that do not fit, and for weights that are missing, not above zero, or rounded
    away in a distance.

    >>> states = torch.tensor([1.0, 0.5, 0.0, 0.0])
    >>> tg.algorithms.percolation(tg.generators.path(4), states).round(decimals=3)
    tensor([0.0000, 1.0000, 0.5000, 0.0000], dtype=torch.float64)
    """
    n, graph = graph.num_vertices, with_lengths(graph, positive=True) if weighted else graph
    held = torch.ones(n, device=graph.device) if states is None else torch.as_tensor(states)
    held = held.to(graph.device, torch.float64)
    if held.shape != (n,):
        raise tg.errors.ArgumentError(f"states: expected [{n}] numbers, got {list(held.shape)}")
    tg.primitives.weights.check_numbers("states", held, "measures")
    total = tg.primitives.values.full(graph, 0.0, torch.float64)
    with tg.one_torch_thread(options.get("backend", "auto")):
        for group in groups(graph, torch.arange(n, device=graph.device)):
            for source, dependency in zip(
                group.tolist(), dependencies(graph, group, False, weighted, **options), strict=True
            ):
                total += held[source] * dependency
    others = held.sum() - held
    return torch.where(others > 0, total / others.clamp(min=1e-300), 0.0) / max(n - 2, 1)
