"""Shortest paths with weights that may be negative, and negative cycles.

Bellman-Ford relaxes the arcs of vertices whose distance fell until none falls. The vertex that a distance came through
is kept as parent; a cycle of parents has a negative weight, and is found as soon as it closes (Tarjan, "Shortest
paths", 1981; Cherkassky and Goldberg, "Negative-cycle detection algorithms", 1999). O(n m), and near O(m) in practice.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths._sources import Source


def bellman_ford(graph: tg.Graph, source: Source, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """Shortest distances from `source` with weights of either sign: (distance, parent) of every vertex, [n] each, to
    the nearest of several sources.

    distance is float64 with inf where unreached, or int64 with its largest value there, where weights are integers or
    missing. parent, int64, is the vertex before it on a shortest path, the source itself at a source and -1 where
    unreached. An undirected edge of negative weight is a negative cycle. `backend` names the kernels.
    Raises NegativeCycleError, whose `cycle` holds the vertices, where a cycle of negative weight is within reach, and
    ArgumentError for a weight that is NaN or -inf, or a source that is no vertex.

    >>> graph = tg.Graph.from_edges([0, 0, 2], [1, 2, 1], [4.0, 5.0, -3.0])
    >>> tg.algorithms.bellman_ford(graph, 0)
    (tensor([0., 2., 5.], dtype=torch.float64), tensor([0, 2, 0]))
    """
    sources = graph.as_vertices(source, "source")
    return tg.primitives.shortest_paths.bellman_ford(graph, sources, backend=backend)


def negative_cycle(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Cycle of negative weight: its vertices in the order of its arcs, int64 [k]; empty where there is none. `backend`
    names the kernels.

    >>> tg.algorithms.negative_cycle(tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, -3, 1])).sort().values
    tensor([0, 1, 2])
    """
    try:
        potentials(graph, backend=backend)
    except tg.errors.NegativeCycleError as found:
        return torch.tensor(found.cycle, device=graph.device)
    return torch.empty(0, dtype=torch.int64, device=graph.device)


def potentials(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the least weight of a path that ends there, at most 0, [n]. With h = potentials(graph), weight +
    h[u] - h[v] is not negative on any arc u -> v, and changes no shortest path (Johnson, "Efficient algorithms for
    shortest paths in sparse networks", 1977). Raises NegativeCycleError."""
    everywhere = torch.arange(graph.num_vertices, device=graph.device)
    return tg.primitives.shortest_paths.bellman_ford(graph, everywhere, backend=backend)[0]
