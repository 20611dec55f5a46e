"""Descendants of the vertices of a directed graph without cycles, in torch operators.

From the last generation to the first, the vertices that u reaches by two arcs or more are those that its out-neighbours
reach:

    longer[u] = union of reached[w] over arcs u -> w,    reached[u] = longer[u] and the out-neighbours of u

for some targets at a time, so that memory is O(n + m).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph

BYTES = 1 << 26  # that the sets of reached vertices take at a time


@operator
def replaced_arcs(graph: Graph, generation: Tensor) -> Tensor:
    """See `tgraph.primitives.topological.replaced_arcs`."""
    reverse = graph.transpose_detached()
    u, v = reverse.neighbors.to(torch.int64), sorting.expand_rows(reverse.offset)
    replaced = torch.zeros_like(u, dtype=torch.bool)
    for first, _, longer in reached(graph, generation):
        here = ((v >= first) & (v < first + longer.shape[1])).nonzero().flatten()
        replaced[here] = longer[u[here], v[here] - first]
    return replaced


def reached(graph: Graph, generation: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
    """See `tgraph.primitives.topological.reached`."""
    n, (u, v) = graph.num_vertices, graph.to_edge_index()
    order = generation.index_select(0, u).argsort(descending=True, stable=True)
    u, v = u[order], v[order]
    sizes = generation.index_select(0, u).unique_consecutive(return_counts=True)[1].tolist()
    width = max(1, BYTES // (3 * n + len(u) + 1))
    for first in range(0, n, width):
        count = min(width, n - first)
        direct = torch.zeros(n, count, dtype=torch.uint8, device=graph.device)
        inside = (v >= first) & (v < first + count)
        direct[u[inside], v[inside] - first] = 1
        longer = torch.zeros_like(direct)
        for source, target in zip(u.split(sizes), v.split(sizes), strict=True):
            sent = direct.index_select(0, target) | longer.index_select(0, target)
            longer.scatter_reduce_(0, source[:, None].expand(-1, count), sent, "amax")
        yield first, (direct | longer).bool(), longer.bool()
