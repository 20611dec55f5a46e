"""The rows of a block compressed: stretches of neighbours that repeat within the block are virtual rows, which entries
refer to in their place.

The rules are those of the layout "virtual" (Chen et al., "CompressGraph", SIGMOD 2023), found among the rows of one
block alone, whose neighbours are vertices of the whole graph. Every reduction is served without writing the rows out:
what a virtual row receives is computed once and stands behind the data of the vertices.
"""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core import devices, native, sorting
from tgraph.formats.dag.grammar import Grammar
from tgraph.kernels.native.dag import pairing as compiled_pairing
from tgraph.kernels.native.dag import unfolding as compiled_unfolding
from tgraph.kernels.portable import pairing as portable_pairing
from tgraph.kernels.portable import unfolding as portable_unfolding

# Virtual rows nest no deeper: a pass computes them depth by depth, and more depths save hardly any bytes.
MAX_DEPTH = 10

# What a virtual row has to save; it takes an offset itself.
MIN_GAIN = 1

# The most symbols that the rules are numbered in.
_SYMBOLS = 2**31


class Folded(NamedTuple):
    """Compressed rows.

    offset : [R + rows + 1], where the entries of each row begin, the R virtual rows first; int32, or int64 from 2**31
        entries on. entries : [A], of the dtype of the neighbours: a vertex below n, or n + i for the i-th virtual row.
    levels : ascending bounds, from 0 to R, of the virtual rows of each depth, which refer to those of less depth.
    """

    offset: Tensor
    entries: Tensor
    levels: tuple[int, ...]


def fold(offset: Tensor, neighbors: Tensor, num_vertices: int) -> Folded:
    """Compress rows, int64 [rows + 1] from 0 and int32 or int64 [m], on the CPU: O(m) work for each of some twenty
    rounds, and up to 100 bytes for each arc meanwhile. Rows in which nothing repeats keep their neighbours."""
    as_they_are = Folded(offset.to(sorting.index_dtype(len(neighbors))), neighbors, (0,))
    if len(neighbors) + len(neighbors) // 2 >= _SYMBOLS:
        return as_they_are
    distinct, tokens = torch.unique(neighbors, return_inverse=True)
    builder: ModuleType = portable_pairing if native.load() is None else compiled_pairing
    rows, symbols, pairs = builder.replace_pairs(offset.contiguous(), tokens.int(), len(distinct), MAX_DEPTH)
    grammar = Grammar.by_depth(rows, symbols, len(distinct), pairs)
    begin, symbols, kept, levels = grammar.write(grammar.inlined(MIN_GAIN))
    if not len(kept) or num_vertices + len(kept) - 1 > torch.iinfo(neighbors.dtype).max:
        return as_they_are
    node = torch.zeros(grammar.num_symbols, dtype=neighbors.dtype, device="cpu")
    node[: len(distinct)] = distinct
    node[kept] = num_vertices + torch.arange(len(kept), dtype=neighbors.dtype, device="cpu")
    return Folded(begin.to(sorting.index_dtype(len(symbols))), node[symbols], levels)


def unfold(folded: Folded, num_vertices: int, num_arcs: int) -> tuple[Tensor, Tensor] | None:
    """The rows as they were: (offset int64 [rows + 1], neighbors [m]); None where they stand for another number of
    arcs."""
    on_cpu = devices.kind(folded.entries) == "cpu" and native.load() is not None
    backend = compiled_unfolding if on_cpu else portable_unfolding
    return backend.unfold(folded.offset.long(), folded.entries, num_vertices, folded.levels[-1], num_arcs)


def stages(levels: tuple[int, ...]) -> list[tuple[int, int]]:
    """The virtual rows of each depth, (first, end)."""
    return [(low, high) for low, high in pairwise(levels) if low < high]


def folded_error(folded: Folded, num_vertices: int) -> str | None:
    """What is wrong with compressed rows that were stored; None where all entries are in range, so that reductions may
    follow them. A few passes over the entries."""
    offset, entries, levels = folded
    if levels[0] or list(levels) != sorted(levels):
        return "has virtual rows that are not sorted by depth"
    if int(offset[0]) or int(offset[-1]) != len(entries) or bool((offset[1:] < offset[:-1]).any()):
        return "has offsets that do not ascend from 0 to its end"
    for first, end in [*stages(levels), (levels[-1], len(offset) - 1)]:
        held = entries[int(offset[first]) : int(offset[end])]
        if len(held):
            least, most = torch.aminmax(held)
            if int(least) < 0 or int(most) >= num_vertices + first:
                return f"has rows, {first} to {end - 1} of those stored, that refer to what is not there"
    return None


def shape_of(folded: Folded) -> Tensor:
    """What is kept beside a block: the number of its entries, and its levels, the last of them repeated, int64
    [1 + MAX_DEPTH + 1]."""
    last = [folded.levels[-1]] * (MAX_DEPTH + 1 - len(folded.levels))
    return torch.tensor([len(folded.entries), *folded.levels, *last], dtype=torch.int64, device="cpu")
