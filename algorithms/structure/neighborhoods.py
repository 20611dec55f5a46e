"""The surroundings of vertices: who is at most k hops away, and the graph among them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


class Reach(tg.Relaxation):
    """The fewest hops from any of several vertices, int32 [n], at most `k`."""

    reduce, edge, weight = "min", "add", 1

    def __init__(self, vertices: Tensor, k: int | None = None):
        self.vertices, self.rounds = vertices, k

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        """0 at the vertices, which are active."""
        active = graph.select(self.vertices)
        hops = torch.full((graph.num_vertices,), torch.iinfo(torch.int32).max, dtype=torch.int32, device=graph.device)
        hops[active.ids] = 0
        return hops, active


def k_hop(graph: tg.Graph, vertices: Any, k: int = 1) -> Tensor:
    """The vertices at most `k` hops from any of the given ones, along arcs: ascending indices, int64 [r].

    vertices : an index, several, or a bool mask [n]. Raises ArgumentError for what is no vertex, and k below 0.

    >>> tg.algorithms.k_hop(tg.generators.path(6), 2, 1)
    tensor([1, 2, 3])
    """
    if k < 0:
        raise tg.errors.ArgumentError(f"k: a number of hops is 0 or more, got {k}")
    chosen = graph.select(vertices).ids
    if k == 0 or not len(chosen):
        return chosen.sort().values
    hops = tg.run(Reach(chosen, k), graph).values
    return (hops <= min(k, graph.num_vertices)).nonzero().flatten()


def ego_graph(
    graph: tg.Graph, source: Any, radius: int = 1, *, center: bool = True, undirected: bool = False
) -> tg.Graph:
    """Graph induced by the vertices at most `radius` hops from `source`: a vertex, as networkx.ego_graph.

    radius : hops. center : whether the source itself is in it. undirected : go along arcs in both directions.
    Vertices keep their order; the result is in CSR.

    >>> graph = tg.generators.path(6)
    >>> ego = tg.algorithms.ego_graph(graph, 3)
    >>> ego.ids(range(ego.num_vertices))
    tensor([2, 3, 4])
    """
    found = k_hop(graph.to_undirected() if undirected and graph.directed else graph, source, radius)
    if not center:
        found = found[found != graph.select(source).ids[:1]]
    return graph.subgraph(found)


def induced_subgraph(graph: tg.Graph, vertices: Any) -> tg.Graph:
    """The graph of the given vertices and all arcs between them, numbered in the order given; original ids stay.

    vertices : indices, each once, or a bool mask [n]. The result is in CSR, as that of `Graph.subgraph`.

    >>> graph = tg.generators.cycle(5)
    >>> tg.algorithms.induced_subgraph(graph, [1, 2, 4]).to_edge_index()
    tensor([[0, 1],
            [1, 0]])
    """
    return graph.subgraph(vertices)
