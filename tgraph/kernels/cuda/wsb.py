"""Pulling over tiles with bitmaps by the kernels in `wsb.cu`."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.pull import EDGES, TYPES, Layout, least_lanes, types_of
from tgraph.kernels.cuda.runtime import Kernel
from tgraph.kernels.operators.aggregation.tiles import Tiles, pull_tiles
from tgraph.kernels.reductions import Reduction

SOURCE = "aggregation/wsb.cu"
THREADS = 128  # as in wsb.cu

# What tensor cores multiply from compute capability 8.0 on.
MULTIPLIED = (torch.float16, torch.bfloat16, torch.float32)
NARROWEST = 8  # columns of one product


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `pull` may launch."""
    for dtype in TYPES:
        for reduce in ("min",) if dtype == torch.int32 else ("sum", "prod", "min"):
            yield _added(dtype, reduce)
        for count in (1, 16 // dtype.itemsize) if dtype in MULTIPLIED else ():
            yield _multiplied(dtype, count)


def refuses(tiles: Tiles, data: Tensor, *others: object) -> str | None:
    """Why a pull of data [n, columns] is not supported, None if it is."""
    if data.device.type != "cuda":
        return f"it computes on a CUDA device, the data is on {data.device}"
    if tiles.columns.dtype != torch.int32:
        return "it reads int32 columns"
    return runtime.unavailable() or (None if data.dtype in TYPES else f"it has no kernel for {data.dtype}")


def multiplies(data: Tensor, reduce: str, edge: str) -> bool:
    """True of a pull of data [n, columns] that tensor cores compute: a sum in which they round nothing that other
    kernels do not, or float32 that may be rounded to TF32, and that fills their products."""
    if reduce != "sum" or edge not in ("copy", "mul") or data.shape[1] < NARROWEST or data.dtype not in MULTIPLIED:
        return False
    if data.dtype == torch.float32 and not torch.backends.cuda.matmul.allow_tf32:
        return False
    return not data.is_cuda or torch.cuda.get_device_capability(data.device) >= (8, 0)


@BACKENDS["cuda"].implements(pull_tiles, refuses)
def pull(tiles: Tiles, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """The reduction of each row over contiguous data [n, columns], in the dtype of it, which the weights have too:
    added along the row, 16-bit numbers and their products in float32. int32 is not added or multiplied."""
    reduce, identity = reduction.name, reduction.identity(data.dtype)
    result, columns = torch.empty_like(data), data.shape[1]
    weights = None if edge == "copy" else tiles.weights
    start = None if weights is None else tiles.start
    structure = (tiles.offset, tiles.columns, tiles.bitmap, start, weights, tiles.num_rows, len(tiles.offset) - 1)
    if multiplies(data, reduce, edge):
        return _multiply(structure, data, result)
    lanes, number = least_lanes(columns), float(identity) if data.dtype.is_floating_point else int(identity)
    kernel = _added(data.dtype, reduce)
    for first, side_by_side in Layout(1, lanes).grids(columns):
        grid = (-(-structure[-1] * lanes // THREADS), side_by_side)
        where = (EDGES[edge], first, lanes, int(reduce == "max"), number)
        runtime.launch(kernel, grid, THREADS, *structure, data, columns, *where, result)
    return result


def _multiply(structure: tuple, data: Tensor, result: Tensor) -> Tensor:
    columns, most = data.shape[1], 16 // data.element_size()
    wide = most if columns % most == 0 and data.data_ptr() % 16 == 0 else 1
    kernel = _multiplied(data.dtype, wide)
    for first, side_by_side in Layout(wide, NARROWEST).grids(columns):
        grid = (-(-structure[-1] * 32 // THREADS), side_by_side)
        runtime.launch(kernel, grid, THREADS, *structure, data, columns, first, result)
    return result


def _added(dtype: torch.dtype, reduce: str) -> Kernel:
    return Kernel(SOURCE, "pull_tiles", types_of(dtype, torch.int32, reduce, False, 1)[::2])


def _multiplied(dtype: torch.dtype, count: int) -> Kernel:
    return Kernel(SOURCE, "multiply_tiles", (TYPES[dtype], str(count)))
