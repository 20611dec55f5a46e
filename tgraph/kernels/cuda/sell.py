"""Pulling over padded slices by the kernel in `sell.cu`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.pull import EDGES, INDICES, TYPES, layout_of, types_of
from tgraph.kernels.cuda.runtime import Kernel
from tgraph.kernels.operators.aggregation.slices import Slices, pull_slices
from tgraph.kernels.reductions import Reduction

SOURCE = "aggregation/sell.cu"
THREADS = 128  # as in sell.cu


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `pull` may launch."""
    for dtype, index, reduce in product(TYPES, INDICES, ("sum", "prod", "min")):
        for count in (1,) if reduce == "prod" else (1, 16 // dtype.itemsize):
            yield Kernel(SOURCE, "pull_slices", types_of(dtype, index, reduce, False, count))


def refuses(slices: Slices, data: Tensor, *others: object) -> str | None:
    """Why a pull of data [n, columns] is not supported, None if it is."""
    if data.device.type != "cuda":
        return f"it computes on a CUDA device, the data is on {data.device}"
    return runtime.unavailable() or (None if data.dtype in TYPES else f"it has no kernel for {data.dtype}")


@BACKENDS["cuda"].implements(pull_slices, refuses)
def pull(slices: Slices, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """The reduction of each row over contiguous data [n, columns], in the dtype of it, which the weights have too:
    added along the row. int32 is not added or multiplied."""
    n, columns = data.shape
    result = torch.empty_like(data)
    reduce, identity = reduction.name, reduction.identity(data.dtype)
    layout = layout_of(data, None, reduce)
    kernel = Kernel(SOURCE, "pull_slices", types_of(data.dtype, slices.neighbors.dtype, reduce, False, layout.wide))
    structure = (slices.offset, slices.neighbors, slices.length, slices.order, n, slices.height)
    weights = None if edge == "copy" else slices.weights
    number = float(identity) if data.dtype.is_floating_point else int(identity)
    for first, side_by_side in layout.grids(columns):
        grid = (-(-n * layout.lanes // THREADS), side_by_side)
        where = (first, layout.lanes, int(reduce == "max"), number)
        runtime.launch(kernel, grid, THREADS, *structure, data, columns, weights, EDGES[edge], *where, result)
    return result
