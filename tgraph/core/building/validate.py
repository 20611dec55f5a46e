"""Checks of CSR tensors: that a Graph can be made of them, and that every entry of one is sound."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.errors import ArgumentError


def check_tensors(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
    """Shapes, dtypes, devices and lengths, in O(1), and the range of int64 neighbours. Raises ArgumentError."""
    if offset.dim() != 1 or offset.dtype != torch.int64 or not len(offset):
        raise ArgumentError(f"offset: expected int64 [n + 1], got {offset.dtype} {list(offset.shape)}")
    if neighbors.dim() != 1 or neighbors.dtype not in (torch.int32, torch.int64):
        raise ArgumentError(f"neighbors: expected int32 or int64 [m], got {neighbors.dtype} {list(neighbors.shape)}")
    check_ends(offset, neighbors)
    if weights is not None and weights.shape != neighbors.shape:
        raise ArgumentError(f"weights: expected one per arc, [{len(neighbors)}], got {list(weights.shape)}")
    if neighbors.dtype == torch.int64 and len(offset) <= 2**31 and len(neighbors):
        check_range(neighbors, len(offset) - 1)  # they are about to become int32
    if weights is not None and (weights.is_complex() or weights.dtype == torch.bool):
        raise ArgumentError(f"weights: expected an integer or floating dtype, got {weights.dtype}")
    if offset.device != neighbors.device or (weights is not None and weights.device != offset.device):
        devices = sorted({str(tensor.device) for tensor in (offset, neighbors, weights) if tensor is not None})
        raise ArgumentError(f"offset, neighbors, weights: on different devices {devices}; use .to()")


def check_ends(offset: Tensor, neighbors: Tensor) -> None:
    """Raise ArgumentError unless the offsets begin with 0 and end with the number of arcs."""
    first, last = int(offset[0]), int(offset[-1])
    if first != 0:
        raise ArgumentError(f"offset: must begin with 0, begins with {first}")
    if last != len(neighbors):
        raise ArgumentError(f"offset: must end with the number of arcs, {len(neighbors)}, ends with {last}")


def check_entries(offset: Tensor, neighbors: Tensor) -> None:
    """Offsets never fall and neighbours are vertices, in O(n + m). Raises ArgumentError with the first position."""
    check_offset(offset)
    check_range(neighbors, len(offset) - 1)


def check_offset(offset: Tensor) -> None:
    """Raise ArgumentError where an offset is less than the one before it."""
    falls = (offset[1:] < offset[:-1]).nonzero()
    if len(falls):
        raise ArgumentError(f"offset: decreases after position {int(falls[0])}; offsets never decrease")


def check_range(vertices: Tensor, num_vertices: int, name: str = "neighbors") -> None:
    """Raise ArgumentError for the first that is no vertex. Without edge-sized memory where all are."""
    if are_below(vertices, num_vertices):
        return
    position = int(((vertices < 0) | (vertices >= num_vertices)).nonzero()[0])
    raise ArgumentError(
        f"{name}: {int(vertices[position])} at position {position} is no vertex number below {num_vertices}"
    )


def are_below(vertices: Tensor, num_vertices: int) -> bool:
    """True where all are numbers of vertices."""
    if not vertices.numel():
        return True
    low, high = vertices.aminmax()
    return int(low) >= 0 and int(high) < num_vertices


def check_order(order: Tensor, num_vertices: int) -> None:
    """Raise ArgumentError unless an order has each vertex once. O(n)."""
    if order.dtype != torch.int64 or order.shape != (num_vertices,):
        raise ArgumentError(f"order: expected int64 [{num_vertices}], got {order.dtype} {list(order.shape)}")
    check_range(order, num_vertices, "order")
    seen = torch.zeros(num_vertices, dtype=torch.bool, device=order.device)
    seen[order] = True
    if not bool(seen.all()):
        raise ArgumentError(f"order: vertex {int((~seen).nonzero()[0])} is not in it; an order has each vertex once")


def rows_ascend(offset: Tensor, neighbors: Tensor) -> bool:
    """True where the neighbours of every vertex come in ascending order."""
    fall = neighbors[1:] < neighbors[:-1]
    boundary = offset[1:-1]
    inner = boundary[(boundary > 0) & (boundary < len(neighbors))]
    fall[inner - 1] = False  # the step from one row to the next may fall
    return not bool(fall.any())


def equal_but_for_order(offset: Tensor, neighbors: Tensor, left: Tensor, right: Tensor) -> bool:
    """True where two weightings [m] of the same arcs differ at most in the order of parallel arcs; NaN equals NaN."""
    left, right = (ordered_in_runs(offset, neighbors, weights) for weights in (left, right))
    same = left == right
    if left.is_floating_point():
        same |= left.isnan() & right.isnan()
    return bool(same.all())


def ordered_in_runs(offset: Tensor, neighbors: Tensor, weights: Tensor) -> Tensor:
    """The weights [m], ascending among parallel arcs (those of one row with the same neighbour)."""
    return weights[order_in_runs(offset, neighbors, weights)]


def order_in_runs(offset: Tensor, neighbors: Tensor, weights: Tensor) -> Tensor:
    """Which arcs these are, int64 [m]."""
    begins = torch.ones_like(neighbors, dtype=torch.bool)
    begins[1:] = neighbors[1:] != neighbors[:-1]
    begins[offset[:-1][offset.diff() > 0]] = True
    run = begins.cumsum(0)
    order = torch.argsort(weights, stable=True)
    return order[torch.argsort(run[order], stable=True)]
