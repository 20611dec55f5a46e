"""Scheduling of rows that depend on a parent row: division into tasks, and the order within a task.

The dependencies are a forest given by `parent`, int64 [n], -1 at a root; a branch is one of its trees (Alves et al.,
"Accelerating Graph Neural Networks Using a Novel Computation-Friendly Matrix Compression Format", IPDPS 2025,
section V-B).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

TASKS = 64  # the most tasks, of equal work
LEAST_WORK = 1 << 15  # the least work of a task, in children
LEAST_ARCS = 1 << 15  # the least uncompressed arcs of a block


class Schedule(NamedTuple):
    """`order`, `phases` and `tasks` as in `tgraph.kernels.dag.Dag`."""

    order: Tensor | None
    phases: tuple[int, ...]
    tasks: Tensor | None


def blocks(offset: Tensor) -> Tensor:
    """Bounds of blocks of consecutive rows with nearly equal numbers of arcs: int64, ascending from 0 to n."""
    n, num_arcs = len(offset) - 1, int(offset[-1])
    count = min(TASKS, max(1, num_arcs // LEAST_ARCS))
    inner = torch.searchsorted(offset, torch.arange(1, count, device=offset.device) * num_arcs // count)
    return torch.unique(torch.cat((offset.new_tensor([0, n]), inner)))


def bound_depth(parent: Tensor, max_depth: int) -> Tensor:
    """The forest with every edge removed whose lower end has a depth divisible by max_depth + 1: none is deeper."""
    depth = depths(parent)
    return torch.where(depth % (max_depth + 1) == 0, -1, parent)


def bound_work(parent: Tensor, work: Tensor, work_of_root: Tensor) -> Tensor:
    """The forest with edges removed above subtrees that are too large for a task.

    work : cost of each row, [n]. work_of_root : its cost as a root. Edges above rows that are expensive as roots stay.
    """
    limit = _work_per_task(work)
    cuttable = (parent >= 0) & (work_of_root <= limit // 4)
    below, parent = work.clone(), parent.clone()
    for rows in reversed(_levels(parent)[1:]):
        cut = cuttable[rows] & (below[rows] >= limit)
        parent[rows[cut]] = -1
        below.index_add_(0, parent[rows[~cut]], below[rows[~cut]])
    return parent


def schedule(parent: Tensor, work: Tensor) -> Schedule:
    """Depth-first order of the rows, smaller subtrees first, so that a row follows shortly after its parent.

    A task is a sequence of whole branches. The root of a branch larger than two tasks is evaluated in an earlier phase,
    and the subtrees below it are scheduled like branches.
    """
    n, limit = len(parent), _work_per_task(work)
    if not bool((parent >= 0).any()):
        return Schedule(None, (0, n), None)
    below = _sums_below(parent, work)
    ahead = (parent < 0) & (below > 2 * limit) & (below > work)
    order = _depth_first(torch.where((parent >= 0) & ahead[parent], -1, parent), below)
    order = torch.cat((order[ahead[order]], order[~ahead[order]]))
    first, starts = int(ahead.sum()), (parent < 0) | ahead[parent]
    begun = (work[order].cumsum(0) - work[order]) // limit
    unit = (starts[order]).nonzero().squeeze(1)
    bounds = unit[1:][begun[unit[1:]] != begun[unit[:-1]]]
    tasks = torch.cat((torch.arange(first + 1, device=order.device), bounds[bounds > first], bounds.new_tensor([n])))
    in_order = torch.equal(order, torch.arange(n, device=order.device))
    return Schedule(None if in_order else order, (0, first, n) if first else (0, n), tasks)


def depths(parent: Tensor) -> Tensor:
    """The number of ancestors of each row, int64 [n]."""
    return _sums_above(parent, (parent >= 0).long())


def _work_per_task(work: Tensor) -> int:
    return max(LEAST_WORK, int(work.sum()) // TASKS)


def _sums_above(parent: Tensor, value: Tensor) -> Tensor:
    """The sum of `value` over each row and its ancestors, [n], by pointer jumping."""
    total, above = value, parent
    while bool((above >= 0).any()):
        has_more = above >= 0
        total = total + torch.where(has_more, total[above], 0)
        above = torch.where(has_more, above[above], -1)
    return total


def _levels(parent: Tensor) -> tuple[Tensor, ...]:
    """The rows of each depth."""
    depth = depths(parent)
    return torch.argsort(depth, stable=True).split(torch.bincount(depth).tolist())


def _sums_below(parent: Tensor, value: Tensor) -> Tensor:
    """The sum of `value` over each row and its descendants, [n]."""
    total = value.clone()
    for rows in reversed(_levels(parent)[1:]):
        total.index_add_(0, parent[rows], total[rows])
    return total


def _depth_first(parent: Tensor, below: Tensor) -> Tensor:
    """The rows in depth-first order, int64 [n]: roots ascending, children by `below`."""
    size = _sums_below(parent, torch.ones_like(parent))
    by_size = torch.argsort(torch.where(parent < 0, 0, below), stable=True)
    siblings = by_size[torch.argsort(parent[by_size], stable=True)]  # roots first, then rows by parent
    before = size[siblings].cumsum(0) - size[siblings]
    above = parent[siblings]
    begins = torch.ones_like(above, dtype=torch.bool)
    begins[1:] = above[1:] != above[:-1]
    before = before - before[begins.nonzero().squeeze(1)][begins.cumsum(0) - 1]
    step = torch.empty_like(parent)
    step[siblings] = before + (above >= 0)
    place = _sums_above(parent, step)
    return torch.empty_like(place).index_copy_(0, place, torch.arange(len(place), device=place.device))
