"""The densest subgraph: the set of vertices with the most edges among them for each.

Vertices of least degree are removed one after the other, and the densest of the graphs in between is taken: its density
is at least half of the largest (Charikar, APPROX 2000). O(n + m). All vertices whose degree is at most that of the core
reached are removed in one layer; the core from which the first vertex of the densest subgraph is removed has at least
its density as least degree, so that the bound holds for any order within layers.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def densest_subgraph(graph: tg.Graph) -> tuple[float, Tensor]:
    """(density, vertices): the number of edges over that of vertices, at least half of the largest, and the vertices
    of such a subgraph, int64 [k] ascending.

    Undirected graphs only; parallel edges count once, self-loops not at all.
    """
    graph = tg.primitives.simple_graph.simple(graph)
    n = graph.num_vertices
    if not n:
        return 0.0, torch.zeros(0, dtype=torch.int64, device=graph.device)
    _, layer = tg.primitives.k_core.onion_layers(graph)
    order = torch.sort(layer, stable=True)[1]
    place = torch.empty_like(order).index_copy_(0, order, torch.arange(n, device=graph.device))
    source = place.repeat_interleave(graph.out_degree, output_size=graph.num_arcs)
    first = torch.minimum(source, place[graph.neighbors])  # an edge goes with the first of its ends
    left = torch.bincount(first, minlength=n).flip(0).cumsum(0).flip(0) // 2
    density = left.to(torch.float64) / torch.arange(n, 0, -1, device=graph.device)
    best = int(density.argmax())
    return float(left[best]) / (n - best), order[best:].sort()[0]
