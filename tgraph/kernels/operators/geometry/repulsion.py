"""Repulsion between points along a Z-curve, by their quadtree: see `tgraph.primitives.repulsion`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator

BITS = 21  # of each coordinate in the place of a point along the curve
PAIRS_AT_ONCE = 1 << 22  # of a point and a cell


@operator
def sorted_repulsion(code: Tensor, points: Tensor, mass: Tensor, width: float, theta: float) -> Tensor:
    """`repulsion` for points in the order of their places along the Z-curve: code int64 [n], points float64 [n, 2],
    mass float64 [n], width that of the whole square. Level by level, all cells that points have to look at."""
    sums = torch.cat((mass[:, None], points * mass[:, None]), 1).cumsum(0)
    sums = torch.cat((sums.new_zeros(1, 3), sums))
    forces, n = torch.zeros_like(points), len(points)
    at_once = max(1, PAIRS_AT_ONCE // 1024)
    for first in range(0, n, at_once):
        body = torch.arange(first, min(first + at_once, n), device=points.device)
        low, high = torch.zeros_like(body), torch.full_like(body, n)
        for level in range(BITS, -1, -1):
            total = sums[high] - sums[low]
            alone = (high - low == 1) | (level == 0)
            single = points[low.clamp(max=n - 1)]  # exactly, where sums over all points before it would round
            centre = torch.where((high - low == 1)[:, None], single, total[:, 1:] / total[:, :1].clamp(min=1e-300))
            apart = points[body] - centre
            square = (apart * apart).sum(1)
            side = width * 2.0 ** (level - BITS)
            inside = (low <= body) & (body < high)  # a point alone is itself, or all are in one place
            counts = alone | (~inside & (side * side < theta * theta * square))
            weight = torch.where(counts & (square > 0) & ~inside, total[:, 0] / square, 0.0)
            forces.index_add_(0, body, apart * weight[:, None])
            body, low, high = (x[~counts] for x in (body, low, high))
            if not len(body):
                break
            shift = 2 * (level - 1)
            start = (code[low] >> shift >> 2 << 2)[:, None] + torch.arange(5, device=code.device)
            bounds = torch.searchsorted(code, (start << shift).flatten()).view(-1, 5)
            body, low, high = body.repeat_interleave(4), bounds[:, :-1].flatten(), bounds[:, 1:].flatten()
            body, low, high = (x[low < high] for x in (body, low, high))
    return forces * mass[:, None]
