"""Rows in windows of 16, cut into tiles of 8 columns with bitmaps: what is stored, read row by row, and multiplied."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator, setup_operator
from tgraph.core.rows import gather_rows, offset_of
from tgraph.core.system import devices
from tgraph.kernels.operators.aggregation.rows import reduce_rows
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.reductions import REDUCTIONS, Reduction

HEIGHT, WIDTH = 16, 8  # of a tile

# Products of tiles are computed so many numbers at a time, for them to stay in the cache.
CHUNK = 2**20

# Approximate number of tiles decoded at a time on the CPU, which bounds temporary memory.
LISTED = 2**16


class Tiles(NamedTuple):
    """Rows in windows of 16 neighbouring ones. The columns of a window are those that any of its rows has, ascending, a
    parallel arc having a column of its own, and are cut into tiles of 8.

    offset : int64 [windows + 1], the tiles of each window. columns : int32 or int64 [8 tiles]; the last tile of a
    window is padded by its last column. bitmap : int64 [2 tiles], of which byte r of a tile's sixteen, the least
    significant first, is its row r, and bit c there its column c. start : int64 [tiles + 1], where the weights of each
    tile begin, None without. weights : [m], of each tile row by row, or None. num_rows : n; the last window may have
    fewer than 16.
    """

    offset: Tensor
    columns: Tensor
    bitmap: Tensor
    start: Tensor | None
    weights: Tensor | None
    num_rows: int

    @property
    def num_tiles(self) -> int:
        return len(self.bitmap) // 2

    @property
    def rows(self) -> Tensor:
        """The columns of each row of each tile as bits, uint8 [tiles, 16]."""
        return self.bitmap.view(torch.uint8).view(-1, HEIGHT)


def count_bits(words: Tensor) -> Tensor:
    """How many bits each word has, int64 of the shape of `words`, int64."""
    words = words - (words >> 1 & 0x5555555555555555)
    words = (words & 0x3333333333333333) + (words >> 2 & 0x3333333333333333)
    return (words + (words >> 4) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56


def count_before(bitmap: Tensor, tile: Tensor, bit: Tensor) -> Tensor:
    """How many arcs a tile has before its bit 0 to 127, int64 [k], as both are."""
    word, bit = tile * 2 + (bit >> 6), bit & 63
    before = count_bits(bitmap[word] & (torch.ones_like(bit) << bit) - 1)
    return before + torch.where(word & 1 == 1, count_bits(bitmap[tile * 2]), 0)


@setup_operator
def tiles_of(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Tiles:
    """The tiles of a CSR structure whose rows ascend and whose entries are checked."""
    n = len(offset) - 1
    row, column, copy, order = _by_window(offset, neighbors)
    window = row // HEIGHT
    is_new = torch.ones_like(row, dtype=torch.bool)
    is_new[1:] = (window[1:] != window[:-1]) | (column[1:] != column[:-1]) | (copy[1:] != copy[:-1])
    distinct = torch.bincount(window[is_new], minlength=-(-n // HEIGHT))
    first = distinct.cumsum(0) - distinct
    bounds = offset_of((distinct + WIDTH - 1) // WIDTH)
    slot = is_new.cumsum(0) - 1 - (first - bounds[:-1] * WIDTH)[window]
    tile, bit = slot // WIDTH, row % HEIGHT * WIDTH + slot % WIDTH
    bitmap = torch.zeros(2 * int(bounds[-1]), dtype=torch.int64, device=row.device)
    bitmap.index_add_(0, tile * 2 + (bit >> 6), torch.ones_like(bit) << (bit & 63))
    columns = column[is_new][_padded(bounds, first, distinct)]
    if weights is None:
        return Tiles(bounds, columns, bitmap, None, None, n)
    start, entries = starts_of(bitmap), tile * (HEIGHT * WIDTH) + bit
    return Tiles(bounds, columns, bitmap, start, packed(weights[order], entries, start, bitmap), n)


def packed(weights: Tensor, entries: Tensor, start: Tensor, bitmap: Tensor) -> Tensor:
    """The weights [m] in the order of tiles, given the entry of each arc, tile * 128 + bit, int64 [m]."""
    tile, bit = entries // (HEIGHT * WIDTH), entries % (HEIGHT * WIDTH)
    result = torch.empty_like(weights)
    result[start[tile] + count_before(bitmap, tile, bit)] = weights.detach()
    return result


def starts_of(bitmap: Tensor) -> Tensor:
    """Where the arcs of each tile begin, int64 [tiles + 1]."""
    return offset_of(count_bits(bitmap).view(-1, 2).sum(1))


@setup_operator
def tile_degrees(tiles: Tiles) -> Tensor:
    """Arcs of each row, int64 [n]."""
    counted = torch.zeros((tiles.num_tiles + 1, HEIGHT), dtype=torch.int64, device=tiles.bitmap.device)
    torch.cumsum(_bits(tiles.rows).sum(2, dtype=torch.int64), 0, out=counted[1:])
    return counted[tiles.offset].diff(dim=0).flatten()[: tiles.num_rows]


def arcs_of(tiles: Tiles, rows: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arcs of some rows, int64 [k], or of all: (offset int64 [k + 1], neighbors, weights or None). Reads no other
    window than theirs."""
    rows = torch.arange(tiles.num_rows, device=tiles.bitmap.device) if rows is None else rows
    bounds, tile = gather_rows(tiles.offset, rows // HEIGHT)
    in_tile = (rows % HEIGHT).repeat_interleave(bounds.diff(), output_size=len(tile))
    bits = tiles.rows[tile, in_tile]
    found = bits.nonzero().squeeze(1)  # most rows of most tiles are empty
    tile, in_tile, bits = tile[found], in_tile[found], _bits(bits[found])
    entry, column = bits.nonzero().unbind(1)
    count = bits.sum(1, dtype=torch.int64)
    ends = torch.nn.functional.pad(count.cumsum(0), (1, 0))
    offset = ends[torch.searchsorted(found, bounds)]
    neighbors = sorting.take(tiles.columns, tile[entry] * WIDTH + column)
    if tiles.weights is None or tiles.start is None:
        return offset, neighbors, None
    begin = tiles.start[tile] + count_before(tiles.bitmap, tile, in_tile * WIDTH)
    position = (begin - ends[:-1])[entry] + torch.arange(len(entry), device=entry.device)
    return offset, neighbors, sorting.take(tiles.weights, position)


def multiply(tiles: Tiles, data: Tensor) -> Tensor:
    """The sum of each row over finite floating data [n, F], times the weights where there are, in the dtype of the
    data: the product of each tile with the 8 rows of the data that it names, added along the window.

    16-bit numbers are multiplied and added in float32 and rounded at the end.
    """
    columns, dtype = data.shape[1], torch.float32 if data.element_size() == 2 else data.dtype
    result = torch.zeros((len(tiles.offset) - 1, HEIGHT * columns), dtype=dtype, device=data.device)
    begins = torch.arange(0, tiles.num_tiles, max(1, CHUNK // (HEIGHT * columns)), device=data.device)
    ends = torch.cat((begins[1:], begins.new_tensor([tiles.num_tiles])))[: len(begins)]
    windows = torch.searchsorted(tiles.offset, begins, right=True) - 1, torch.searchsorted(tiles.offset, ends)
    ranges = (begins, ends, *windows)
    for begin, end, first, last in zip(*(bounds.tolist() for bounds in ranges), strict=True):
        gathered = data.index_select(0, tiles.columns[begin * WIDTH : end * WIDTH]).to(dtype)
        products = torch.bmm(_dense(tiles, begin, end, dtype), gathered.view(-1, WIDTH, columns)).flatten(1)
        bounds = tiles.offset[first : last + 1].clamp(begin, end) - begin
        result[first:last] += reduce_segments(products, bounds, REDUCTIONS["sum"])
    return result.view(-1, columns)[: tiles.num_rows].to(data.dtype)


@setup_operator
def tile_rows(tiles: Tiles, first: int, last: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arcs of all rows in the windows from `first` to `last`, as a CSR of these rows."""
    if last - first == len(tiles.offset) - 1:
        return arcs_of(tiles, None)
    rows = torch.arange(first * HEIGHT, min(last * HEIGHT, tiles.num_rows), device=tiles.offset.device)
    return arcs_of(tiles, rows)


@operator
def pull_tiles(tiles: Tiles, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """The reduction of each row of tiles over data [n, columns]: by dense products, or over the decoded rows, on the
    CPU those of some windows at a time."""
    multiplies = reduction.name == "sum" and edge in ("copy", "mul") and data.is_floating_point()
    # The dense product of a tile multiplies data by zeros, which is NaN for infinity and NaN.
    if multiplies and bool(torch.isfinite(data).all()):
        return multiply(tiles, data)
    if not devices.is_sequential(data):
        return reduce_rows(*arcs_of(tiles, None), data, reduction, edge)
    result = torch.empty_like(data)
    begins = torch.arange(0, max(tiles.num_tiles, 1), LISTED)
    cuts = [*torch.unique(torch.searchsorted(tiles.offset, begins, right=True) - 1).tolist(), len(tiles.offset) - 1]
    cuts[0] = 0
    for first, last in pairwise(cuts):
        rows = slice(first * HEIGHT, min(last * HEIGHT, tiles.num_rows))
        result[rows] = reduce_rows(*tile_rows(tiles, first, last), data, reduction, edge)
    return result


def _by_window(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Arcs sorted by window, column, copy and row: (row, column, copy, position in CSR), [m] each. The copy is the
    number of an arc among those with the same ends."""
    n, row = len(offset) - 1, sorting.expand_rows(offset)
    window = (row // HEIGHT).to(neighbors.dtype)
    _, column, order = sorting.sort_edges(window, neighbors, n, permutation=True)
    assert order is not None
    sorted_row = row[order]
    is_copy = torch.zeros_like(row, dtype=torch.bool)
    is_copy[1:] = (sorted_row[1:] == sorted_row[:-1]) & (column[1:] == column[:-1])
    place = torch.arange(len(row), device=row.device)
    if not bool(is_copy.any()):
        return sorted_row, column, place.new_zeros(1).expand(len(row)), order
    copy = place - torch.where(is_copy, 0, place).cummax(0)[0]
    by_copy = torch.argsort(copy, stable=True)
    order, copy = order[by_copy], copy[by_copy]
    _, column, again = sorting.sort_edges(window[order], neighbors[order], n, permutation=True)
    assert again is not None
    order = order[again]
    return row[order], column, copy[again], order


def _padded(bounds: Tensor, first: Tensor, distinct: Tensor) -> Tensor:
    """For each column of each tile, which of the distinct columns it is, int64 [8 tiles]."""
    width = bounds.diff() * WIDTH
    window = torch.arange(len(width), device=width.device).repeat_interleave(width)
    place = torch.arange(len(window), device=width.device) - (bounds[:-1] * WIDTH)[window]
    return first[window] + torch.minimum(place, distinct[window] - 1)


def _bits(rows: Tensor) -> Tensor:
    """The 8 bits of each byte [...], uint8 [..., 8]."""
    return rows[..., None] >> torch.arange(WIDTH, dtype=torch.uint8, device=rows.device) & 1


def _dense(tiles: Tiles, begin: int, end: int, dtype: torch.dtype) -> Tensor:
    """Some tiles as matrices, [tiles, 16, 8] of a dtype."""
    bits = _bits(tiles.rows[begin:end])
    if tiles.weights is None or tiles.start is None:
        return bits.to(dtype)
    some = tiles.weights[int(tiles.start[begin]) : int(tiles.start[end])].to(dtype)
    return torch.zeros(bits.shape, dtype=dtype, device=bits.device).masked_scatter_(bits.bool(), some)
