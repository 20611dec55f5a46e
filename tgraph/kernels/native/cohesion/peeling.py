"""Cores, triangles, trusses, onion layers and squares by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import (
    attach,
    both_sides,
    compiled,
    implements,
    per_vertex,
    refuses_first,
    refuses_graph,
    refuses_rows,
    refuses_wide_graph,
)
from tgraph.kernels.operators.cohesion import intersect as intersect_operators
from tgraph.kernels.operators.cohesion import k_core as k_core_operators
from tgraph.kernels.operators.cohesion import onion as onion_operators
from tgraph.kernels.operators.cohesion import squares as squares_operators
from tgraph.kernels.operators.cohesion import triangle_edges, truss


@implements(k_core_operators.peel, refuses_graph)
def peel(graph: Graph) -> Tensor:
    """The core number of each vertex, int64 [n]; in a directed graph the degree is that in both directions."""
    core = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    compiled().peel(*sides(graph), core)
    return core


def sides(graph: Graph) -> tuple[Tensor | None, ...]:
    """(offset, neighbors) of the graph, then of its transpose, or None twice where arcs are stored both ways."""
    return both_sides(graph) if graph.directed else (graph.offset, graph.neighbors, None, None)


@implements(intersect_operators.count_triangles, refuses_wide_graph)
def count_triangles(graph: Graph, per_vertex: bool, _rank: bool | None = None) -> Tensor:
    """Triangles of an undirected graph, int64 [], or those at each vertex, int64 [n].

    `_rank` forces, or forbids, that vertices are renumbered by degree, which is otherwise done where it pays.
    """
    offset, neighbors = graph.offset, graph.neighbors
    found = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu") if per_vertex else None
    total = compiled().count_triangles(offset, neighbors, found, _rank)
    return torch.tensor(total, device="cpu") if found is None else found


attach(intersect_operators.count_arcs_among, refuses_wide_graph, per_vertex)


@implements(triangle_edges.edge_triangles, refuses_rows)
def edge_triangles(offset: Tensor, neighbors: Tensor, mirror: Tensor) -> Tensor:
    found = torch.empty(len(neighbors), dtype=torch.int64, device="cpu")
    compiled().edge_triangles(offset, neighbors, found)
    return found + sorting.take(found, mirror)


@implements(triangle_edges.triangle_products, refuses_rows)
def triangle_products(offset: Tensor, neighbors: Tensor, value: Tensor, mirror: Tensor) -> Tensor:
    found = torch.empty(len(offset) - 1, dtype=torch.float64, device="cpu")
    compiled().triangle_products(offset, neighbors, value, mirror, found)
    return found


@implements(triangle_edges.triangle_codes, refuses_rows)
def triangle_codes(offset: Tensor, neighbors: Tensor, code: Tensor, mirror: Tensor) -> Tensor:
    found = torch.empty(64, dtype=torch.int64, device="cpu")
    compiled().triangle_codes(offset, neighbors, code, found)
    return found.view(4, 4, 4)


@implements(truss.peel_edges, refuses_first)
def peel_edges(offset: Tensor, neighbors: Tensor, edge: Tensor, ends: Tensor, triangles: Tensor) -> Tensor:
    found = triangles.clone()
    compiled().peel_edges(offset, neighbors, edge, ends[0], ends[1], found)
    return found


attach(onion_operators.onion, refuses_graph, per_vertex, per_vertex)


attach(squares_operators.count_squares, refuses_rows, per_vertex)
