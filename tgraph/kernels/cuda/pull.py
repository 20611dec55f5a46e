"""The calls of the pull kernels: what every row of a CSR structure receives.

Vertex data is [n, columns] here; weights are [arcs, heads], each of them for columns / heads adjacent columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.bins import DegreeBins
from tgraph.kernels.cuda.runtime import MAX_GRID, Kernel

SOURCE = "aggregation/pull.cu"
ROW_THREADS, TILE_THREADS = 128, 256  # as in pull.cu

TYPES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.float16: "tgraph::float16",
    torch.bfloat16: "tgraph::bfloat16",
    torch.int32: "int32_t",
    torch.int64: "int64_t",
}
INDICES = {torch.int32: "int32_t", torch.int64: "int64_t"}
REDUCTIONS = {"sum": "Sum", "prod": "Product", "min": "Best", "max": "Best"}
EDGES = {"copy": 0, "add": 1, "mul": 2, "min": 3, "max": 4}  # as in semiring.cuh


class Rows(NamedTuple):
    """The rows that receive.

    offset, neighbors : the CSR structure, int64 [k + 1] and int32/int64 [arcs].
    bins : the rows by their number of arcs.
    active_mask : which vertices send, bool [n], or None for all.
    shift : for rows that are not stored one after the other, how far behind its number in `offset` each arc of a row
        lies in `neighbors`, int64 [k]; None where they are.
    """

    offset: Tensor
    neighbors: Tensor
    bins: DegreeBins
    active_mask: Tensor | None = None
    shift: Tensor | None = None


class Layout(NamedTuple):
    """How threads share the columns: each has `wide` adjacent ones, and `lanes` of them lie side by side."""

    wide: int
    lanes: int

    def grids(self, columns: int) -> Iterator[tuple[int, int]]:
        """(first column, blocks side by side) of launches that together have all columns."""
        width = self.wide * self.lanes
        for first in range(0, columns, MAX_GRID[1] * width):
            yield first, min(_ceil(columns - first, width), MAX_GRID[1])


def result_dtype(dtype: torch.dtype, reduce: str) -> torch.dtype:
    """The dtype that data of a dtype is reduced in."""
    return torch.int64 if dtype == torch.int32 and reduce in ("sum", "prod") else dtype


def pull(
    rows: Rows,
    data: Tensor,
    reduce: str,
    edge: str = "copy",
    weights: Tensor | None = None,
    *,
    identity: float = 0,
    mean: bool = False,
    argreduce: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The reduction of each row, [k, columns], and the arc that attains it, int64 [k, columns], if `argreduce`.

    rows : who receives from whom.
    data : [n, columns], of a dtype in TYPES. weights : [arcs, heads] of the same dtype, or None for a copy.
    reduce : "sum", "prod", "min" or "max". edge : an edge operation.
    identity : what a row without messages gets; no message loses against it.
    mean : divides a sum of floating numbers by the number of arcs of the row.
    argreduce : whether to find, for a min or max of floating numbers, the first arc that attains it, from 0 in the
        order of the rows; -1 where there is none. NaN wins against any number.

    The result does not depend on the order in which the device does things. int32 is added and multiplied in int64,
    which the result has; 16-bit floating numbers are in float32, and rounded at the end.
    """
    data, weights = data.contiguous(), None if weights is None else weights.contiguous()
    n, columns = rows.bins.num_rows, data.shape[1]
    dtype = result_dtype(data.dtype, reduce)
    result = torch.empty((n, columns), dtype=dtype, device=data.device)
    won = torch.empty((n, columns), dtype=torch.int64, device=data.device) if argreduce else None
    if result.numel():
        layout = layout_of(data, weights, reduce)
        types = types_of(data.dtype, rows.neighbors.dtype, reduce, argreduce, layout.wide)
        heads = 1 if weights is None else weights.shape[1]
        messages = (rows.neighbors.contiguous(), rows.active_mask, data, columns, weights, heads, EDGES[edge])
        number = float(identity) if dtype.is_floating_point else int(identity)
        outcome = (int(reduce == "max"), number, int(mean), result, won)
        _pull_rows(rows, types, layout, messages, outcome)
        if len(rows.bins.tiles):
            _pull_tiles(rows, types, layout, messages, outcome)
    return result, won


def layout_of(data: Tensor, weights: Tensor | None, reduce: str) -> Layout:
    """How threads share the columns [n, columns] of contiguous data, with weights [arcs, heads].

    A thread reads 16 bytes at a time where all of them are of the same row and head.
    """
    columns, most = data.shape[1], 16 // data.element_size()
    fits = columns % most == 0 and data.data_ptr() % 16 == 0 and reduce != "prod"
    if fits and weights is not None and weights.shape[1] == columns:
        fits = weights.data_ptr() % 16 == 0
    elif fits and weights is not None:
        fits = (columns // weights.shape[1]) % most == 0
    wide = most if fits else 1
    return Layout(wide, least_lanes(_ceil(columns, wide)))


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `pull` may launch."""
    for dtype, reduce, argreduce in product(TYPES, ("sum", "prod", "min"), (False, True)):
        if argreduce and (reduce != "min" or not dtype.is_floating_point):
            continue
        counts = (1,) if reduce == "prod" else (1, 16 // dtype.itemsize)
        for index, count in product(INDICES, counts):
            types = types_of(dtype, index, reduce, argreduce, count)
            yield Kernel(SOURCE, "pull_rows", types)
            yield Kernel(SOURCE, "pull_tiles", types)
        yield Kernel(SOURCE, "join_tiles", (types[0], types[2]))


def types_of(dtype: torch.dtype, index: torch.dtype, reduce: str, argreduce: bool, count: int) -> tuple[str, ...]:
    """The arguments of the templates: data, neighbours, reduction and columns at a time."""
    reduction = "tgraph::" + REDUCTIONS[reduce] + ("Arc" if argreduce else "")
    return TYPES[dtype], INDICES[index], reduction, str(count)


def least_lanes(wanted: int) -> int:
    """The least power of two that is as large, but no more than a warp."""
    return min(32, 1 << (wanted - 1).bit_length())


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _pull_rows(rows: Rows, types: tuple[str, ...], layout: Layout, messages: tuple, outcome: tuple) -> None:
    kernel, offset = Kernel(SOURCE, "pull_rows", types), rows.offset.contiguous()
    for some, size, parts in rows.bins.groups(layout.lanes):
        some = None if some is None else some.to(rows.neighbors.dtype)
        each = ROW_THREADS // (layout.lanes * parts)
        for first, (column, side_by_side) in product(range(0, size, each * MAX_GRID[0]), layout.grids(messages[3])):
            grid = (min(_ceil(size - first, each), MAX_GRID[0]), side_by_side)
            which, where = (some, first, size, offset, rows.shift), (column, layout.lanes, parts)
            runtime.launch(kernel, grid, ROW_THREADS, *which, *messages, *where, *outcome)


def _pull_tiles(rows: Rows, types: tuple[str, ...], layout: Layout, messages: tuple, outcome: tuple) -> None:
    """Rows of many arcs, a block for each tile, and a second launch that joins the tiles of one row."""
    tiles, hubs = rows.bins.tiles, rows.bins.hubs
    *_, result, won = outcome
    columns = result.shape[1]
    number = torch.float32 if result.dtype in (torch.float16, torch.bfloat16) else result.dtype
    values = torch.empty((rows.bins.num_slots, columns), dtype=number, device=result.device)
    arcs = None if won is None else torch.empty(values.shape, dtype=torch.int64, device=result.device)
    kernel = Kernel(SOURCE, "pull_tiles", types)
    for first, side_by_side in layout.grids(columns):
        where = (first, layout.lanes)
        runtime.launch(
            kernel,
            (len(tiles), side_by_side),
            TILE_THREADS,
            tiles,
            rows.shift,
            *messages,
            *where,
            *outcome,
            values,
            arcs,
        )
    kernel, layout = Kernel(SOURCE, "join_tiles", (types[0], types[2])), Layout(1, least_lanes(columns))
    for first, side_by_side in layout.grids(columns) if len(hubs) else ():
        sizes = (columns, first, layout.lanes)
        runtime.launch(kernel, (len(hubs), side_by_side), TILE_THREADS, hubs, values, arcs, *sizes, *outcome)
