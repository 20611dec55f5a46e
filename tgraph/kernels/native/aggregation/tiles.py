"""Tiles with bitmaps by the kernels in `tiles.cpp`; see `tgraph.kernels.operators.aggregation.tiles`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_first
from tgraph.kernels.operators.aggregation import tiles as declared
from tgraph.kernels.operators.aggregation.tiles import HEIGHT, WIDTH, Tiles
from tgraph.kernels.reductions import Reduction


def _refuses_tiles(tiles: Tiles, *others: Any) -> str | None:
    return refuses_data(tiles.offset)


def _refuses_pull(tiles: Tiles, data: Tensor, reduction: Reduction, edge: str) -> str | None:
    if reduction.name != "sum" or edge not in ("copy", "mul") or not data.is_floating_point():
        return "it adds floating numbers"
    return "it reads int32 columns" if tiles.columns.dtype != torch.int32 else refuses_data(data)


@implements(declared.tiles_of, refuses_first)
def tiles_of(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Tiles:
    """As the portable one. The result does not depend on the number of threads."""
    n, structure = len(offset) - 1, (offset, neighbors)
    counts = torch.empty(-(-n // HEIGHT), dtype=torch.int64, device="cpu")
    compiled().count_tile_columns(*structure, counts)
    bounds = torch.nn.functional.pad(((counts + WIDTH - 1) // WIDTH).cumsum(0), (1, 0))
    num_tiles = int(bounds[-1])
    columns = torch.empty(num_tiles * WIDTH, dtype=neighbors.dtype, device="cpu")
    bitmap = torch.empty(num_tiles * 2, dtype=torch.int64, device="cpu")
    entries = None if weights is None else torch.empty(len(neighbors), dtype=torch.int64, device="cpu")
    compiled().fill_tiles(*structure, bounds, columns, bitmap, entries)
    if weights is None or entries is None:
        return Tiles(bounds, columns, bitmap, None, None, n)
    start = declared.starts_of(bitmap)
    return Tiles(bounds, columns, bitmap, start, declared.packed(weights, entries, start, bitmap), n)


@implements(declared.tile_degrees, _refuses_tiles)
def degrees(tiles: Tiles) -> Tensor:
    return _degrees(tiles, 0, tiles.num_rows)


@implements(declared.tile_rows, _refuses_tiles)
def arcs_of(tiles: Tiles, first: int, last: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arcs of all rows in the windows from `first` to `last`, as a CSR of these rows: (offset int64, neighbors,
    weights or None)."""
    num_rows = min(last * HEIGHT, tiles.num_rows) - first * HEIGHT
    offset = torch.nn.functional.pad(_degrees(tiles, first, num_rows).cumsum(0), (1, 0))
    neighbors = torch.empty(int(offset[-1]), dtype=tiles.columns.dtype, device="cpu")
    positions = None if tiles.weights is None else torch.empty(len(neighbors), dtype=torch.int64, device="cpu")
    compiled().list_tile_rows(
        tiles.offset, tiles.columns, tiles.bitmap, tiles.start, first, offset, neighbors, positions
    )
    weights = None if tiles.weights is None or positions is None else sorting.take(tiles.weights, positions)
    return offset, neighbors, weights


@implements(declared.pull_tiles, _refuses_pull)
def pull(tiles: Tiles, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """Arc by arc, in the order of the row."""
    wide = data.float() if data.element_size() == 2 else data
    weights = None if tiles.weights is None else tiles.weights.to(wide.dtype)
    result = torch.empty_like(wide)
    kernel = compiled().sum_tiles_float32 if wide.dtype == torch.float32 else compiled().sum_tiles_float64
    stored = tiles.offset, tiles.columns, tiles.bitmap, tiles.start, weights
    kernel(*stored, flat(wide), wide.shape[1], flat(result))
    return result.to(data.dtype)


def _degrees(tiles: Tiles, first: int, num_rows: int) -> Tensor:
    degree = torch.empty(num_rows, dtype=torch.int64, device="cpu")
    compiled().count_tile_rows(tiles.offset, tiles.bitmap, first, degree)
    return degree
