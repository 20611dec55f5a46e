"""Repulsion between all pairs of points, as layouts of graphs have it, by the method of Barnes and Hut ("A hierarchical
O(N log N) force-calculation algorithm", Nature 1986): points that are far away count as one, at the centre of their
cell of a quadtree.

The tree lies in the order of the points along a Z-curve (Morton, 1966): a cell is a range of the sorted points.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.geometry.repulsion import BITS, sorted_repulsion


def repulsion(positions: Tensor, mass: Tensor, *, theta: float = 1.0) -> Tensor:
    """The force on each point: mass[i] * the sum over j of mass[j] * (p[i] - p[j]) / |p[i] - p[j]|^2, float64 [n, 2].

    `positions`: floating [n, 2], finite. `mass`: numbers of 0 or more [n]. A cell counts as one point where it is
    narrower than `theta` times its distance; 0 adds every pair, in O(n^2). Points in one place, nearer than 2**-21 of
    the width of all, do not move each other.
    Raises ArgumentError for other shapes, positions that are not finite, or a negative theta.

    >>> positions = torch.tensor([[0.0, 0.0], [2.0, 0.0]])
    >>> tg.primitives.repulsion.repulsion(positions, torch.ones(2))
    tensor([[-0.5000,  0.0000],
            [ 0.5000,  0.0000]], dtype=torch.float64)
    """
    if positions.dim() != 2 or positions.shape[1] != 2 or not positions.is_floating_point():
        raise ArgumentError(f"positions: expected floating [n, 2], got {positions.dtype} {list(positions.shape)}")
    if mass.shape != positions.shape[:1]:
        raise ArgumentError(f"mass: expected [{len(positions)}], got {list(mass.shape)}")
    if not theta >= 0:
        raise ArgumentError(f"theta: {theta} is negative; 0 adds every pair, 1 is usual")
    if not len(positions):
        return torch.zeros_like(positions, dtype=torch.float64)
    points, mass = positions.to(torch.float64), mass.to(torch.float64)
    low, high = points.amin(0), points.amax(0)
    width = float((high - low).max())
    if not width < float("inf"):
        row = int((~positions.isfinite().all(1)).nonzero()[0]) if not bool(positions.isfinite().all()) else 0
        raise ArgumentError(f"positions: {positions[row].tolist()} at position {row} is not finite")
    cell = ((points - low) * ((2**BITS - 1) / (width or 1.0))).to(torch.int64)
    code, order = devices.sort(_spread(cell[:, 0]) | _spread(cell[:, 1]) << 1)
    forces = sorted_repulsion(code, points[order].contiguous(), mass[order].contiguous(), width, theta)
    return torch.empty_like(forces).index_copy_(0, order, forces)


def _spread(number: Tensor) -> Tensor:
    """The bits of numbers of BITS bits, each followed by a 0 (Warren, Hacker's Delight, section 7-2)."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        number = (number | number << shift) & mask
    return number
