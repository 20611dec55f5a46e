"""What a run keeps in memory beside the blocks of arcs that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tgraph.stream.blocks import BlockFile

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
    """What the vertices take: the offsets of each section, the degrees, and what a run keeps, at least `values`."""
    n = source.num_vertices + 1
    return 8 * (len(source.sections) + 1) * n + max(VERTEX_BYTES * n, values)


def runtime_bytes(memory: int) -> int:
    """What of a budget is for the runtime."""
    return min(RUNTIME, max(memory - SMALL, 0))


def nbytes(values: Any) -> int:
    """Bytes of the vertex data of a program."""
    return sum(tensor.nbytes for tensor in _tensors(values))


def _tensors(values: Any) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        for each in values.values():
            yield from _tensors(each)
