"""The memory budget of a run: the share of vertex data, and the remainder for blocks of arcs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tgraph.errors import MemoryBudgetError
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import PAGE

# A graph is cut so that this many of its blocks fit the budget: one is computed on while two are being loaded; the rest
# cache blocks for their next visit.
BLOCKS_IN_MEMORY = 8

# Bytes of a run for each vertex beside the offsets, unless its values are known to take more.
VERTEX_BYTES = 24

# Tensors of a run of the size of its values. Updated in place: the values, the values before the round, and the
# frontier. Otherwise the values of this round and of the last, the messages of each, and two vectors of the program.
COPIES_IN_PLACE, COPIES = 3, 6

# Bytes for pages of code that are mapped at their first use, and for memory that the allocator retains.
RUNTIME = 16 << 20

# Budgets up to this many bytes cover the data alone: RUNTIME would leave little of them.
SMALL = 64 << 20


def vertex_bytes(source: BlockFile, values: int = 0) -> int:
    """Bytes of the vertex data: the offsets of each section, the degrees, and the state of a run, at least `values`;
    and the workspace of a compressed block."""
    offsets = 8 * (len(source.sections) + 1) * (source.num_vertices + 1)
    return source.working_bytes + offsets + state_bytes(source, values)


def state_bytes(source: BlockFile, values: int = 0) -> int:
    """Bytes of the state of a run, whose vertex data takes at least `values`."""
    return max(VERTEX_BYTES * (source.num_vertices + 1), values)


def runtime_bytes(memory: int) -> int:
    """Bytes of a budget that are set aside for the runtime."""
    return min(RUNTIME, max(memory - SMALL, 0))


def block_count(source: BlockFile, arcs: int, memory: int) -> int:
    """Number of blocks for `arcs` bytes of arcs, so that a budget holds at least `BLOCKS_IN_MEMORY` of them.

    Raises MemoryBudgetError where the vertex data leaves no memory for a block.
    """
    taken = vertex_bytes(source) + runtime_bytes(memory)
    if memory - taken < PAGE:
        raise MemoryBudgetError("the data of the vertices", taken + PAGE, memory, "give more")
    return max(-(-arcs * BLOCKS_IN_MEMORY // (memory - taken)), BLOCKS_IN_MEMORY)


def budget_for(needed: int) -> int:
    """The least budget that leaves `needed` bytes for data."""
    return needed if needed <= SMALL else needed + RUNTIME


def nbytes(values: Any) -> int:
    """Bytes of the vertex data of a program."""
    return sum(tensor.nbytes for tensor in _tensors(values))


def _tensors(values: Any) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        for each in values.values():
            yield from _tensors(each)
