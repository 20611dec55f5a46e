"""Triangles per edge, trusses, onion layers and squares by the kernels beside this file.

Each function has the arguments and results of the portable one of its name, in `tgraph.kernels.operators.cohesion`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_first, refuses_rows
from tgraph.kernels.operators.cohesion import onion as onion_operators
from tgraph.kernels.operators.cohesion import squares as squares_operators
from tgraph.kernels.operators.cohesion import triangle_edges, truss


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


attach(onion_operators.onion, refuses_first, per_vertex, per_vertex)


attach(squares_operators.count_squares, refuses_rows, per_vertex)
