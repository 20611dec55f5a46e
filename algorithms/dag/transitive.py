"""Transitive closure and reduction of a directed graph without cycles.

The closure has an arc u -> v where a path leads from u to v; the reduction keeps of the arcs those that no longer path
replaces (Aho, Garey and Ullman, "The transitive reduction of a directed graph", 1972). What vertices reach is found for
some targets at a time, a bit each, from the last of them back to the first vertex, so that memory is O(n + m) beside
the result. O(n * m / 256) for the reduction, less where targets have few ancestors; O(n * m) for the closure.
"""

from __future__ import annotations

import torch

import tgraph as tg
from tgraph.algorithms.dag.order import topological_generations


def transitive_closure(graph: tg.Graph, *, backend: str = "auto") -> tg.Graph:
    """Transitive closure, an arc u -> v wherever a path leads from u to another vertex v: without weights and columns.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.

    >>> tg.algorithms.transitive_closure(tg.Graph.from_edges([0, 1], [1, 2])).to_edge_index()
    tensor([[0, 0, 1],
            [1, 2, 2]])
    """
    blocks = tg.primitives.topological.reached(graph, topological_generations(graph, backend=backend))
    found = [(u, first + v) for first, reached, _ in blocks for u, v in [reached.nonzero().unbind(1)]]
    ends = torch.cat([torch.stack(part) for part in found], 1) if found else torch.empty(2, 0, dtype=torch.int64)
    return tg.Graph.from_edges(*ends, num_vertices=graph.num_vertices, vertices=graph.vertices)


def transitive_reduction(graph: tg.Graph, *, backend: str = "auto") -> tg.Graph:
    """Transitive reduction, the fewest arcs with the same paths: the graph of those of its arcs that no longer path
    replaces, without weights. Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.

    >>> tg.algorithms.transitive_reduction(tg.Graph.from_edges([0, 0, 1], [1, 2, 2])).to_edge_index()
    tensor([[0, 1],
            [1, 2]])
    """
    generation = topological_generations(graph, backend=backend)
    kept = ~tg.primitives.topological.replaced_arcs(graph, generation, backend=backend)
    back = graph.transpose()
    v, u = back.to_edge_index()[:, kept]
    columns = back.arc_columns.take(kept.nonzero()[:, 0])
    found = tg.Graph.from_edges(
        u, v, num_vertices=graph.num_vertices, vertices=graph.vertices, multi="first", columns=columns
    )
    return found.with_columns(vertices=graph.vertex_columns)
