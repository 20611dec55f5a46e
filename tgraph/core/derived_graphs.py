"""Methods of Graph that make other graphs from its arcs, in CSR; importing this module attaches them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting, symmetry, validate
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError


def to_undirected(graph: Graph, multi: inputs.Multi = "first") -> Graph:
    """The undirected graph of the same edges, in CSR; arcs u -> v and v -> u become one edge.

    `multi` says what becomes of parallel edges, as in `from_edges`; "keep" keeps u -> v and v -> u apart.

    >>> graph = tg.Graph.from_edges([0, 1, 1], [1, 0, 2]).to_undirected()
    >>> graph.num_edges, graph.to_edge_index()
    (2, tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]]))
    """
    if not graph.directed and multi == "keep":
        return graph
    if graph.storage.is_distributed:
        return _spread(graph, False, multi, "keep")
    if not graph.directed and multi != "keep":
        arcs = graph.decoded()
        tensors = sorting.merge_parallel(arcs.offset, arcs.neighbors, arcs.weights, multi)
        return graph if tensors[1] is arcs.neighbors else Graph(*tensors, vertices=graph.vertices, directed=False)
    arcs = graph.decoded()
    rows = sorting.expand_rows(arcs.offset, arcs.neighbors.dtype)
    tensors = inputs.edges_to_csr(rows, arcs.neighbors, arcs.weights, graph.num_vertices, False, multi, "keep")
    return Graph(*tensors, vertices=graph.vertices, directed=False)


def as_undirected(graph: Graph) -> Graph:
    """The undirected graph, in CSR, of edges that are stored in both directions already; no arc is added.

    Parallel edges are brought into one order, so that the two arcs of an edge carry the same weight. Raises
    ArgumentError, with the first at fault, where an arc lacks its reverse of equal weight; it is
    detected by a 64-bit fingerprint, with an error in about one of 2^63 graphs.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 0])
    >>> graph.num_edges, graph.as_undirected().num_edges
    (2, 1)
    """
    offset, neighbors, weights = graph.decoded().storage.to_csr()
    symmetry.check_mirrored(offset, neighbors, weights)
    if weights is not None and sorting.has_parallel_arcs(offset, neighbors):
        order = Graph(offset, neighbors).transpose_permutation
        if not torch.equal(weights, weights.index_select(0, order)):
            weights = validate.ordered_in_runs(offset, neighbors, weights)
    return Graph(offset, neighbors, weights, graph.vertices, directed=False)


def without_self_loops(graph: Graph) -> Graph:
    """The graph without the arcs that lead from a vertex to itself; in CSR where there are any.

    >>> tg.Graph.from_edges([0, 0, 1], [0, 1, 1]).without_self_loops().to_edge_index()
    tensor([[0],
            [1]])
    """
    if not graph.num_self_loops:
        return graph
    if graph.storage.is_distributed:
        return _spread(graph, graph.directed, "keep", "drop")
    tensors = sorting.drop_self_loops(*graph.decoded().storage.to_csr())
    return Graph(*tensors, vertices=graph.vertices, directed=graph.directed)


def merged(graph: Graph, multi: sorting.Merge = "first") -> Graph:
    """The graph in CSR with parallel arcs of equal direction merged as `multi` says in `from_edges`."""
    if graph.storage.is_distributed:
        return _spread(graph, graph.directed, multi, "keep")
    arcs = graph.decoded()
    tensors = sorting.merge_parallel(arcs.offset, arcs.neighbors, arcs.weights, multi)
    return arcs if tensors[1] is arcs.neighbors else Graph(*tensors, vertices=graph.vertices, directed=graph.directed)


def _spread(graph: Graph, directed: bool, multi: inputs.Multi | sorting.Merge, self_loops: inputs.SelfLoops) -> Graph:
    """A derived graph of one that is spread over processes, each of which makes its own rows; kept with the graph."""
    name = f"{'directed' if directed else 'undirected'}, {multi} parallel arcs, {self_loops} self-loops"

    layout: Any = graph.layout
    made = lambda: Graph.of_storage(layout.simplified(directed, multi, self_loops), graph._ids, directed)  # noqa: E731
    return graph.kept(name, made)


def subgraph(graph: Graph, vertices: Any) -> Graph:
    """The graph induced by the given vertices (indices, or a bool mask [n]), renumbered in the order given; in CSR.

    Original ids stay: vertex i of the result is `graph.ids(vertices[i])`. Raises ArgumentError for a vertex that
    is repeated or out of range.

    >>> graph = tg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> part = graph.subgraph([3, 0, 1])
    >>> part.to_edge_index()
    tensor([[0, 1],
            [1, 2]])
    >>> part.ids([0, 1, 2])
    tensor([3, 0, 1])
    """
    mask = isinstance(vertices, (Tensor, np.ndarray)) and vertices.dtype in (torch.bool, np.bool_)
    chosen = graph.select(vertices).ids if mask else graph.as_vertices(vertices)
    graph.ensure_valid()
    renumbered = torch.full((graph.num_vertices,), -1, dtype=torch.int64, device=graph.device)
    renumbered[chosen] = torch.arange(len(chosen), device=graph.device)
    if int((renumbered >= 0).sum()) != len(chosen):
        raise ArgumentError("vertices: a vertex stands twice; pass each one once, for example vertices.unique()")
    offset, neighbors, weights = graph.storage.rows(chosen)
    src = sorting.expand_rows(offset)
    dst = renumbered[neighbors]
    inside = dst >= 0
    weights = None if weights is None else weights[inside]
    tensors = inputs.edges_to_csr(src[inside], dst[inside], weights, len(chosen), True, "keep", "keep")
    return Graph(*tensors, vertices=graph.ids(chosen), directed=graph.directed)


def permute(graph: Graph, order: Any) -> Graph:
    """The same graph with its vertices renumbered: vertex i of the result is vertex order[i] of this one.

    order : every vertex index once, [n]. The result keeps it as `order`, original ids stay with their vertices, and
    `restore` brings results back. Raises ArgumentError for an order that is no permutation.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
    >>> turned = graph.permute([2, 1, 0])
    >>> turned.to_edge_index()
    tensor([[1, 2],
            [0, 1]])
    >>> turned.restore(tg.algorithms.bfs(turned, 2))
    tensor([0, 1, 2], dtype=torch.int32)
    """
    order = graph.as_vertices(order, "order")
    if len(order) != graph.num_vertices:
        raise ArgumentError(f"order: expected every vertex once, {graph.num_vertices} in all, got {len(order)}")
    return graph.subgraph(order).with_order(order)


Graph.to_undirected, Graph.as_undirected, Graph.without_self_loops = to_undirected, as_undirected, without_self_loops
Graph.subgraph, Graph.permute = subgraph, permute
