"""Degree bins: which rows a few lanes, a warp or several blocks reduce, found once for each graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.graph import Graph

# Rows of up to so many arcs, and how many lanes share their arcs where the data has one column. With more columns a
# warp has less lanes to spare. Longer rows are cut into tiles.
BINS = ((4, 1), (64, 8), (512, 32))

# Arcs of a tile, of which each is reduced by a block. A row has no more than MAX_TILES; their tiles are longer instead.
TILE = 2048
MAX_TILES = 512


@dataclass(frozen=True)
class DegreeBins:
    """The rows of a CSR structure by their number of arcs.

    num_rows : k, all rows.
    rows : those of the bins, bin after bin and ascending in each, int32/int64; None where one bin holds all k rows.
    counts : how many rows each bin holds.
    tiles : (row, first arc, end, slot) of each tile of a longer row, int64 [t, 4]. The slot is where what a tile gave
        waits to be joined with the others of its row, -1 where the row has one tile only.
    hubs : (row, first slot, end slot, number of arcs) of each row of several tiles, int64 [h, 4].
    num_slots : how many slots there are.
    """

    num_rows: int
    rows: Tensor | None
    counts: tuple[int, ...]
    tiles: Tensor
    hubs: Tensor
    num_slots: int

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors."""
        return self.tiles.nbytes + self.hubs.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def groups(self, lanes: int) -> Iterator[tuple[Tensor | None, int, int]]:
        """(rows or None for all, how many, parts) for each launch, where `lanes` lanes lie along the columns."""
        first = end = 0
        for (_, parts), following, count in zip(BINS, (*BINS[1:], None), self.counts, strict=True):
            end += count
            is_alike = following is not None and min(parts, 32 // lanes) == min(following[1], 32 // lanes)
            if is_alike or first == end:
                continue  # the rows of the next bin go with these
            some = None if self.rows is None or end - first == self.num_rows else self.rows[first:end]
            yield some, end - first, min(parts, 32 // lanes)
            first = end


def bins_of(graph: Graph, offset: Tensor, dtype: torch.dtype) -> DegreeBins:
    """The bins of all rows of a graph, or of the first ones, or of those of its transpose, whichever the `offset`
    belongs to and then keeps them."""
    owner = graph.decoded()
    owner = owner if offset.data_ptr() == owner.offset.data_ptr() else graph.transpose_detached().decoded()
    if offset.data_ptr() != owner.offset.data_ptr():
        return find_bins(offset, dtype)
    name = "cuda_degree_bins" if len(offset) == len(owner.offset) else f"cuda_degree_bins of {len(offset) - 1} rows"
    return owner.kept(name, lambda: find_bins(offset, dtype))


def find_bins(offset: Tensor, dtype: torch.dtype, tile: int | None = None, max_tiles: int | None = None) -> DegreeBins:
    """The bins of rows with offsets int64 [k + 1], as tensors of int64 but for `rows`, of the given dtype.

    tile, max_tiles : arcs of a tile and tiles of a row at most, TILE and MAX_TILES where they are None.
    Waits for the device, to learn how many rows there are of each kind.
    """
    degree = offset.diff()
    limits = torch.tensor([limit for limit, _ in BINS], device=offset.device)
    number = torch.bucketize(degree, limits, out_int32=True)
    *counts, num_long = torch.stack([(number == i).sum() for i in range(len(BINS) + 1)]).tolist()
    if len(degree) in counts:
        rows, long = None, torch.empty(0, dtype=torch.int64, device=offset.device)
    else:
        order = torch.sort(number.to(torch.int8), stable=True).indices
        rows, long = order[: len(order) - num_long].to(dtype), order[len(order) - num_long :]
    tiles = _tiles(offset, degree, long, tile or TILE, max_tiles or MAX_TILES)
    return DegreeBins(len(degree), rows, tuple(counts), *tiles)


def _tiles(offset: Tensor, degree: Tensor, long: Tensor, tile: int, max_tiles: int) -> tuple[Tensor, Tensor, int]:
    """The tiles and hubs of the `long` rows, and how many slots they need."""
    arcs, first = degree.index_select(0, long), offset.index_select(0, long)
    length = torch.clamp((arcs + max_tiles - 1) // max_tiles, min=tile)
    count = (arcs + length - 1) // length
    several = count > 1
    slots = torch.where(several, count, 0)
    first_slot = slots.cumsum(0) - slots
    total, num_slots = torch.stack((count.sum(), slots.sum())).tolist()
    row = torch.repeat_interleave(torch.arange(len(long), device=offset.device), count, output_size=total)
    place = torch.arange(total, device=offset.device) - (count.cumsum(0) - count)[row]
    begin = first[row] + place * length[row]
    end = torch.minimum(begin + length[row], (first + arcs)[row])
    slot = torch.where(several[row], first_slot[row] + place, -1)
    hubs = torch.stack((long, first_slot, first_slot + slots, arcs), 1)[several]
    return torch.stack((long[row], begin, end, slot), 1), hubs, num_slots
