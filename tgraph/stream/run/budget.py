"""What a run keeps in memory beside the blocks of arcs that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tgraph.errors import MemoryBudgetError
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import PAGE

# A graph is cut so that this many of its blocks fit the budget: one is computed on while two are under way, and the
# rest are there for those that are visited again.
BLOCKS_IN_MEMORY = 8

# What a run keeps for each vertex beside the offsets, in bytes, unless its values are known to take more.
VERTEX_BYTES = 24

# What a run keeps of the size of its values. Where they are overwritten: themselves, those before the round, and the
# frontier. Else the values of this round and of the last, what they send in each, and two vectors of the program.
COPIES_IN_PLACE, COPIES = 3, 6

# Pages of programs that are mapped once they run, and those that the allocator holds back.
RUNTIME = 16 << 20

# Budgets up to this are for the data alone: the runtime would leave little of them.
SMALL = 64 << 20


def vertex_bytes(source: BlockFile, values: int = 0) -> int:
    """What the vertices take: the offsets of each section, the degrees, and what a run keeps, at least `values`; and
    what a compressed block takes while it is computed on."""
    n = source.num_vertices + 1
    return source.working_bytes + 8 * (len(source.sections) + 1) * n + max(VERTEX_BYTES * n, values)


def runtime_bytes(memory: int) -> int:
    """What of a budget is for the runtime."""
    return min(RUNTIME, max(memory - SMALL, 0))


def block_count(source: BlockFile, arcs: int, memory: int) -> int:
    """How many blocks to cut `arcs` bytes of arcs into, so that a budget holds `BLOCKS_IN_MEMORY` of them, if not more.

    Raises MemoryBudgetError where the data of the vertices leaves no room for any.
    """
    taken = vertex_bytes(source) + runtime_bytes(memory)
    if memory - taken < PAGE:
        raise MemoryBudgetError("the data of the vertices", taken + PAGE, memory, "give more")
    return max(-(-arcs * BLOCKS_IN_MEMORY // (memory - taken)), BLOCKS_IN_MEMORY)


def budget_for(needed: int) -> int:
    """The least budget that has so many bytes beside the runtime."""
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
