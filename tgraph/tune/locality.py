"""How often a gather along the arcs finds in the cache what it needs, told from the order of the arcs alone."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import sorting
from tgraph.core.graph import Graph

LINE = 64  # bytes that come at once


def misses(rows: Graph, row_bytes: int, capacity: int) -> float:
    """The share of the arcs whose gather misses a cache of `capacity` bytes, from 0 to 1; 0 without arcs.

    rows : whose arcs lead from who receives to what is read, row after row. row_bytes : of what each vertex holds.

    The cache keeps what was used last (LRU). It holds as many lines of 64 bytes, or rows where these are longer, as are
    read by a window of so many arcs on average, its footprint; who is read again after more arcs than that is gone by
    then, and so is who was not read before (Denning and Schwartz, "Properties of the working-set model", CACM 1972;
    Xiang, Ding, Luo and Bao, "HOTL: a higher order theory of locality", ASPLOS 2013).
    """
    arcs = rows.num_arcs
    if not arcs:
        return 0.0
    together = max(LINE // max(row_bytes, 1), 1)
    room = capacity // max(row_bytes, LINE)
    reuse, ends = _times(rows, together)
    distinct = arcs - len(reuse)
    if room >= distinct:
        return distinct / arcs
    gaps, low, high = Gaps(torch.cat((reuse, ends)), distinct, arcs), 0, arcs
    while high - low > 1:
        window = (low + high) // 2
        low, high = (window, high) if gaps.footprint(window) <= room else (low, window)
    return (distinct + int((reuse > low).sum())) / arcs


class Gaps:
    """How many arcs after the one before, or the beginning, each of the `distinct` ones is read, and to the end after
    the last: int64, of `arcs` in all."""

    def __init__(self, gaps: Tensor, distinct: int, arcs: int):
        self.gaps = gaps.sort().values
        self.sums, self.distinct, self.arcs = self.gaps.cumsum(0), distinct, arcs

    def footprint(self, window: int) -> float:
        """How many are read by a window of so many arcs, on average over all windows."""
        shorter = int(torch.searchsorted(self.gaps, window, right=True))
        longer = int(self.sums[-1]) - (int(self.sums[shorter - 1]) if shorter else 0)
        return self.distinct - (longer - window * (len(self.gaps) - shorter)) / (self.arcs - window + 1)


def _times(rows: Graph, together: int) -> tuple[Tensor, Tensor]:
    """(how many arcs after it was read each is read again, how many arcs it takes to each from the beginning and from
    the end), int64; what lies on one line is one."""
    offset, neighbors = rows.offset, rows.neighbors
    if together > 1:
        neighbors = neighbors // together
    offset, _, position = sorting.transpose(offset, neighbors, permutation=True)
    assert position is not None
    degree = offset.diff()
    read = offset[:-1][degree > 0]
    first, last = position[read], position[offset[1:][degree > 0] - 1]
    again = torch.ones(len(position), dtype=torch.bool, device=position.device)
    again[read] = False
    reuse = position.diff(prepend=position[:1])[again]
    return reuse, torch.cat((first + 1, len(position) - last))
