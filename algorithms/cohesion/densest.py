"""The densest subgraph: the set of vertices with the most edges among them for each.

"greedy": vertices of least degree are removed one after the other, and the densest of the graphs in between is taken:
its density is at least half of the largest (Charikar, APPROX 2000). O(n + m). All vertices whose degree is at most that
of the core reached are removed in one layer; the core from which the first vertex of the densest subgraph is removed
has at least its density as least degree, so that the bound holds for any order within layers.

"exact": a set denser than g is one side of a minimum cut (Goldberg, "Finding a maximum density subgraph", 1984): with

    source -> v of max(0, d[v] - 2 g),     v -> target of max(0, 2 g - d[v]),     u - v of 1 for each edge,

what a cut with the set S on the source's side lacks to all that leaves the source is 2 (edges(S) - g |S|). From the
greedy density on, g becomes the density of the set found, until none is denser (Dinkelbach 1967): a few maximum flows,
of integers, on the core in which all vertices have a degree of g, since those of the densest subgraph do.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def densest_subgraph(graph: tg.Graph, *, method: str = "greedy") -> tuple[float, Tensor]:
    """Subgraph of the largest density, or of at least half of it: (density, vertices), the number of edges over that of
    vertices, and its vertices, int64 [k] ascending.

    `method` "greedy" finds at least half of the largest density, "exact" the largest, and of the subgraphs that have it
    their union. Undirected graphs only; parallel edges count once, self-loops not at all.
    Raises ArgumentError for a directed graph, and another method.

    >>> tg.algorithms.densest_subgraph(tg.generators.lollipop(4, 3), method="exact")
    (1.5, tensor([0, 1, 2, 3]))
    """
    if method not in ("greedy", "exact"):
        raise tg.errors.ArgumentError(f"method: {method!r} is not one of 'greedy', 'exact'")
    graph = tg.primitives.simple_graph.simple(graph)
    n = graph.num_vertices
    if not n:
        return 0.0, torch.zeros(0, dtype=torch.int64, device=graph.device)
    edges, vertices = _greedy(graph)
    if method == "exact" and edges:
        edges, vertices = _exact(graph, edges, len(vertices))
    return edges / len(vertices), vertices


def _greedy(graph: tg.Graph) -> tuple[int, Tensor]:
    """The number of edges of the densest of the graphs in between, and its vertices."""
    n = graph.num_vertices
    _, layer = tg.primitives.k_core.onion_layers(graph)
    order = torch.sort(layer, stable=True)[1]
    place = torch.empty_like(order).index_copy_(0, order, torch.arange(n, device=graph.device))
    source = place.repeat_interleave(graph.out_degree, output_size=graph.num_arcs)
    first = torch.minimum(source, place[graph.neighbors])  # an edge goes with the first of its ends
    left = torch.bincount(first, minlength=n).flip(0).cumsum(0).flip(0) // 2
    density = left.to(torch.float64) / torch.arange(n, 0, -1, device=graph.device)
    best = int(density.argmax())
    return int(left[best]), order[best:].sort()[0]


def _exact(graph: tg.Graph, edges: int, size: int) -> tuple[int, Tensor]:
    """As `_greedy` for the densest of all, which has a density of at least edges / size."""
    core = tg.algorithms.core_number(graph)
    while True:
        inside = (core * size >= edges).nonzero().flatten()
        part = tg.algorithms.induced_subgraph(graph, inside)
        total, network = _network(part, edges, size)
        k = part.num_vertices
        value, side = tg.algorithms.minimum_cut(network, k, k + 1)
        chosen = side[:k].nonzero().flatten()
        if value == total:
            return edges * len(chosen) // size, inside[chosen]
        edges, size = tg.algorithms.induced_subgraph(part, chosen).num_edges, len(chosen)


def _network(graph: tg.Graph, edges: int, size: int) -> tuple[int, tg.Graph]:
    """(the sum of what leaves the source, the network for g = edges / size), all capacities times size: the source is
    vertex n, the target n + 1."""
    n, device = graph.num_vertices, graph.device
    vertex = torch.arange(n, device=device)
    surplus = graph.out_degree * size - 2 * edges
    tail = torch.cat((vertex.repeat_interleave(graph.out_degree), torch.full_like(vertex, n), vertex))
    head = torch.cat((graph.neighbors.to(torch.int64), vertex, torch.full_like(vertex, n + 1)))
    each = torch.full((graph.num_arcs,), size, device=device)
    capacity = torch.cat((each, surplus.clamp(min=0), (-surplus).clamp(min=0)))
    return int(surplus.clamp(min=0).sum()), tg.Graph.from_edges(tail, head, capacity, num_vertices=n + 2)
