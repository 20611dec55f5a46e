"""Transitive closure and reduction of a directed graph without cycles.

The closure has an arc u -> v where a path leads from u to v; the reduction keeps of the arcs those that no longer path
replaces (Aho, Garey and Ullman, "The transitive reduction of a directed graph", 1972). From the last generation to the
first, the vertices that u reaches by two arcs or more are those that its out-neighbours reach:

    longer[u] = union of reached[w] over arcs u -> w,    reached[u] = longer[u] and the out-neighbours of u

for some targets at a time, so that memory is O(n + m) beside the result. O(n * m): for graphs of some ten thousand
arcs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.dag.order import topological_generations

BYTES = 1 << 26  # that the sets of reached vertices take at a time


def transitive_closure(graph: tg.Graph, *, backend: str = "auto") -> tg.Graph:
    """The graph with an arc u -> v, without weights, wherever a path leads from u to another vertex v.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.
    """
    found = [(u, first + v) for first, reached, _ in _reached(graph, backend) for u, v in [reached.nonzero().unbind(1)]]
    ends = torch.cat([torch.stack(part) for part in found], 1) if found else torch.empty(2, 0, dtype=torch.int64)
    return tg.Graph.from_edges(*ends, num_vertices=graph.num_vertices, vertices=graph.vertices)


def transitive_reduction(graph: tg.Graph, *, backend: str = "auto") -> tg.Graph:
    """The graph with the fewest arcs, without weights, and the same paths: those of its arcs that no longer path
    replaces. Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.
    """
    u, v = graph.to_edge_index()
    kept = torch.ones_like(u, dtype=torch.bool)
    for first, _, longer in _reached(graph, backend):
        here = ((v >= first) & (v < first + longer.shape[1])).nonzero().flatten()
        kept[here] = ~longer[u[here], v[here] - first]
    return tg.Graph.from_edges(
        u[kept], v[kept], num_vertices=graph.num_vertices, vertices=graph.vertices, multi="first"
    )


def _reached(graph: tg.Graph, backend: str) -> Iterator[tuple[int, Tensor, Tensor]]:
    """(first, reached, longer) for some targets at a time, from `first` on: which of them each vertex reaches, and
    which by two arcs or more, bool [n, width]."""
    generation = topological_generations(graph, backend=backend)
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
