"""Sets of vertices on a CUDA device: bitmaps, their members in ascending order, and the arcs of some rows.

A bitmap is int32 [ceil(n / 32)], vertex v its bit v % 32 of word v // 32.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Selection
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.runtime import Kernel

SOURCE = "relaxation/frontier.cu"

# As in frontier.cuh.
BLOCK, ARCS_PER_BLOCK = 256, 1024

# The dtypes that kernels of relaxations know, in the order in which relax.cuh numbers them, as C++ names them.
TYPES = {torch.int32: "int32_t", torch.int64: "int64_t", torch.float32: "float", torch.float64: "double"}
INDEX_TYPES = {torch.int32: "int32_t", torch.int64: "int64_t"}


def instantiations() -> Iterator[Kernel]:
    """Every kernel that these functions may launch."""
    for name in ("pack_mask", "insert_ids", "clear_ids", "count_members", "list_members", "list_degrees"):
        yield Kernel(SOURCE, name)
    for value in TYPES.values():
        yield Kernel(SOURCE, "count_near", (value,))
        yield Kernel(SOURCE, "list_near", (value,))


def blocks(work: int, each: int = BLOCK) -> int:
    """How many blocks so much work takes."""
    return -(-work // each)


def new_sums(device: torch.device, count: int = 2) -> Tensor:
    """Counters that kernels add to, int64 [count]."""
    return torch.zeros(count, dtype=torch.int64, device=device)


def pack(mask: Tensor) -> Tensor:
    """The bitmap of a mask, bool [n]."""
    words = torch.empty(blocks(len(mask), 32), dtype=torch.int32, device=mask.device)
    if len(mask):
        runtime.launch(Kernel(SOURCE, "pack_mask"), blocks(len(mask)), BLOCK, mask.contiguous(), len(mask), words)
    return words


def insert(ids: Tensor, words: Tensor) -> None:
    """Set the bits of some vertices, int64 [k]."""
    if len(ids):
        runtime.launch(Kernel(SOURCE, "insert_ids"), blocks(len(ids)), BLOCK, ids, len(ids), words)


def clear(ids: Tensor, words: Tensor) -> None:
    """Empty a bitmap whose members are these, int64 [k]."""
    if len(ids):
        runtime.launch(Kernel(SOURCE, "clear_ids"), blocks(len(ids)), BLOCK, ids, len(ids), words)


def members(words: Tensor, size: int) -> Tensor:
    """The `size` members of a bitmap in ascending order, int64 [size]; no device-to-host read."""
    ids = torch.empty(size, dtype=torch.int64, device=words.device)
    if size:
        grid = blocks(len(words))
        kept = torch.empty(grid + 1, dtype=torch.int64, device=words.device)
        runtime.launch(Kernel(SOURCE, "count_members"), grid, BLOCK, words, len(words), kept)
        kept.cumsum_(0)
        runtime.launch(Kernel(SOURCE, "list_members"), grid, BLOCK, words, len(words), kept, ids)
    return ids


def split(graph: Graph, ids: Tensor, values: Tensor, threshold: Tensor) -> tuple[Frontier, Tensor]:
    """The vertices [k] whose value is below the threshold as a frontier, and the others, each in order.

    ids : int64 [k].
    values : [n], of one of `TYPES`.
    threshold : of the dtype of the values, [] or [1].
    """
    if not len(ids):
        return graph.nothing(), ids
    grid, types = blocks(len(ids)), (TYPES[values.dtype],)
    near, parted = torch.empty(grid + 1, dtype=torch.int64, device=ids.device), torch.empty_like(ids)
    sums = new_sums(ids.device)
    count = Kernel(SOURCE, "count_near", types)
    runtime.launch(count, grid, BLOCK, ids, len(ids), values, threshold, graph.row_offset(), near, sums)
    near.cumsum_(0)
    runtime.launch(Kernel(SOURCE, "list_near", types), grid, BLOCK, ids, len(ids), values, threshold, near, parted)
    size, arcs = sums.tolist()
    return Frontier(graph, ids=parted[:size], count=(size, arcs)), parted[size:]


def arc_arguments(arcs: Selection) -> tuple[Tensor, Tensor, Tensor | None, Tensor, int, int]:
    """The first arguments of kernels over the arcs of rows, and nothing gathered where the number of arcs is known.

    Returns (offset, neighbors, rows, first, number of rows, number of arcs): the structure, the rows int64 [k] or None
    for all of them, and the number of the first selected arc of each row, int64 [k + 1].
    """
    offset, neighbors, size = arcs.stored_offset.contiguous(), arcs.stored_neighbors.contiguous(), arcs.num_rows
    if arcs.is_whole:
        return offset, neighbors, None, offset, size, neighbors.shape[0]
    rows = None if arcs.rows is None else arcs.rows.to(torch.int64).contiguous()
    first = torch.empty(size + 1, dtype=torch.int64, device=offset.device)
    most = -1 if arcs.width is None else arcs.width
    kernel = Kernel(SOURCE, "list_degrees")
    runtime.launch(kernel, max(1, blocks(size)), BLOCK, offset, rows, size, most, first)
    first.cumsum_(0)
    num_arcs = arcs.known_num_arcs
    return offset, neighbors, rows, first, size, int(first[-1]) if num_arcs is None else num_arcs
