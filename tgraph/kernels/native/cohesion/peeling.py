"""Triangles per edge, trusses, onion layers and squares by the kernels beside this file.

Each function has the arguments and results of the portable one of its name, in `tgraph.kernels.operators.cohesion`.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data, refuses_rows


def edge_triangles(offset: Tensor, neighbors: Tensor, mirror: Tensor) -> Tensor:
    """As the portable one."""
    found = torch.empty(len(neighbors), dtype=torch.int64, device="cpu")
    _kernels().edge_triangles(offset.contiguous(), neighbors.contiguous(), found)
    return found + sorting.take(found, mirror)


def triangle_products(offset: Tensor, neighbors: Tensor, value: Tensor, mirror: Tensor) -> Tensor:
    """As the portable one."""
    found = torch.empty(len(offset) - 1, dtype=torch.float64, device="cpu")
    arcs = offset.contiguous(), neighbors.contiguous()
    _kernels().triangle_products(*arcs, value.contiguous(), mirror.contiguous(), found)
    return found


def triangle_codes(offset: Tensor, neighbors: Tensor, code: Tensor, mirror: Tensor) -> Tensor:
    """As the portable one."""
    found = torch.empty(64, dtype=torch.int64, device="cpu")
    _kernels().triangle_codes(offset.contiguous(), neighbors.contiguous(), code.contiguous(), found)
    return found.view(4, 4, 4)


def peel_edges(offset: Tensor, neighbors: Tensor, edge: Tensor, ends: Tensor, triangles: Tensor) -> Tensor:
    """As the portable one."""
    found = triangles.clone()
    arcs = offset.contiguous(), neighbors.contiguous(), edge.contiguous()
    _kernels().peel_edges(*arcs, ends[0].contiguous(), ends[1].contiguous(), found)
    return found


def onion(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one."""
    core, layer = (torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu") for _ in range(2))
    _kernels().onion(offset.contiguous(), neighbors.contiguous(), core, layer)
    return core, layer


def count_squares(offset: Tensor, neighbors: Tensor) -> Tensor:
    """As the portable one."""
    found = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    _kernels().count_squares(offset.contiguous(), neighbors.contiguous(), found)
    return found


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    function.__name__: Implementation(function, lambda offset, *others: refuses_data(offset))
    for function in (peel_edges, onion)
} | {
    function.__name__: Implementation(function, refuses_rows)
    for function in (edge_triangles, triangle_products, triangle_codes, count_squares)
}
