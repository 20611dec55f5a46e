"""For each arc the product of the data at its two ends, by a CUDA kernel: a dense product sampled at the arcs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from tgraph.core.rows import Selection
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.frontier import BLOCK, arc_arguments, blocks
from tgraph.kernels.cuda.pull import INDICES, TYPES, least_lanes
from tgraph.kernels.cuda.runtime import Kernel

PER_TEAM = 16  # as in sddmm.cu
FLOATS = tuple(dtype for dtype in TYPES if dtype.is_floating_point)


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `products` may launch."""
    for dtype, index in product(FLOATS, INDICES):
        for count in (1, 16 // dtype.itemsize):
            yield _kernel(dtype, index, count)


def products(arcs: Selection, active_mask: Tensor | None, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
    """For each of the arcs the product of its row's data and its neighbour's, over the columns of each head.

    active_mask : the neighbours whose products are computed, bool [n]; those of others are 0. None for all.
    row_data, data : [k, columns] and [n, columns], of one floating dtype.
    Returns [arcs, heads]. 16-bit numbers are multiplied and added in float32. The order of the sum depends on the
    number of columns alone.
    """
    columns, most = data.shape[1], 16 // data.element_size()
    structure = arc_arguments(arcs)
    result = torch.zeros((structure[-1], heads), dtype=data.dtype, device=data.device)
    if result.numel() and columns:
        row_data, data, span = row_data.contiguous(), data.contiguous(), columns // heads
        fits = span % most == 0 and row_data.data_ptr() % 16 == 0 and data.data_ptr() % 16 == 0
        count = most if fits else 1
        lanes = least_lanes(span // count)
        kernel = _kernel(data.dtype, arcs.stored_neighbors.dtype, count)
        grid = blocks(result.numel(), BLOCK // lanes * PER_TEAM)
        ends = (active_mask, row_data, data, columns, heads, lanes)
        runtime.launch(kernel, grid, BLOCK, *structure, *ends, result)
    return result


def _kernel(dtype: torch.dtype, index: torch.dtype, count: int) -> Kernel:
    return Kernel("aggregation/sddmm.cu", "multiply_ends", (TYPES[dtype], INDICES[index], str(count)))
