"""Compression of a block: sequences of neighbours that repeat within it become virtual rows, which entries refer to.

The grammar is that of the layout "virtual" (Chen et al., "CompressGraph", SIGMOD 2023), built from the rows of one
block, whose neighbours are vertices of the whole graph. Every reduction runs on the compressed rows: a virtual row is
reduced once, into a row appended to the vertex data.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.formats.dag.grammar import Grammar
from tgraph.kernels.operators.compressed.pairing import replace_pairs
from tgraph.kernels.operators.compressed.unfolding import unfold_rows

# The largest depth of virtual rows: they are computed depth by depth, and more depths save hardly any bytes.
MAX_DEPTH = 10

# The least number of entries that a virtual row has to save; it costs an offset.
MIN_GAIN = 1

# The limit of the numbers of grammar symbols, which are int32.
_SYMBOLS = 2**31


class Folded(NamedTuple):
    """Compressed rows.

    offset : [R + rows + 1], where the entries of each row begin, the R virtual rows first; int32, or int64 from 2**31
        entries on. entries : [A], of the dtype of the neighbours: a vertex below n, or n + i for the i-th virtual row.
    levels : ascending bounds, from 0 to R, of the virtual rows of each depth, which refer to smaller depths only.
    """

    offset: Tensor
    entries: Tensor
    levels: tuple[int, ...]


def fold(offset: Tensor, neighbors: Tensor, num_vertices: int) -> Folded:
    """Compress rows, int64 [rows + 1] from 0 and int32 or int64 [m], on the CPU: O(m) work in each of about twenty
    rounds, and up to 100 bytes of workspace for each arc. Rows without repetition keep their neighbours."""
    uncompressed = Folded(offset.to(sorting.index_dtype(len(neighbors))), neighbors, (0,))
    if len(neighbors) + len(neighbors) // 2 >= _SYMBOLS:
        return uncompressed
    distinct, tokens = torch.unique(neighbors, return_inverse=True)
    rows, symbols, pairs = replace_pairs(offset.contiguous(), tokens.int(), len(distinct), MAX_DEPTH)
    grammar = Grammar.by_depth(rows, symbols, len(distinct), pairs)
    begin, symbols, kept, levels = grammar.write(grammar.inlined(MIN_GAIN))
    if not len(kept) or num_vertices + len(kept) - 1 > torch.iinfo(neighbors.dtype).max:
        return uncompressed
    node = torch.zeros(grammar.num_symbols, dtype=neighbors.dtype, device="cpu")
    node[: len(distinct)] = distinct
    node[kept] = num_vertices + torch.arange(len(kept), dtype=neighbors.dtype, device="cpu")
    return Folded(begin.to(sorting.index_dtype(len(symbols))), node[symbols], levels)


def unfold(folded: Folded, num_vertices: int, num_arcs: int) -> tuple[Tensor, Tensor] | None:
    """The decompressed rows: (offset int64 [rows + 1], neighbors [m]); None unless they have `num_arcs` arcs."""
    return unfold_rows(folded.offset.long(), folded.entries, num_vertices, folded.levels[-1], num_arcs)


def stages(levels: tuple[int, ...]) -> list[tuple[int, int]]:
    """The virtual rows of each depth, (first, end)."""
    return [(low, high) for low, high in pairwise(levels) if low < high]


def folded_error(folded: Folded, num_vertices: int) -> str | None:
    """The fault in stored compressed rows; None where all entries are in range, as reductions require. A few passes
    over the entries."""
    offset, entries, levels = folded
    if levels[0] or list(levels) != sorted(levels):
        return "has virtual rows that are not sorted by depth"
    if int(offset[0]) or int(offset[-1]) != len(entries) or bool((offset[1:] < offset[:-1]).any()):
        return "has offsets that do not ascend from 0 to its end"
    for first, end in [*stages(levels), (levels[-1], len(offset) - 1)]:
        part = entries[int(offset[first]) : int(offset[end])]
        if len(part):
            least, most = torch.aminmax(part)
            if int(least) < 0 or int(most) >= num_vertices + first:
                return f"has rows, {first} to {end - 1} of those stored, that refer to what is not there"
    return None


def shape_of(folded: Folded) -> Tensor:
    """The shape that a file stores for a compressed block: the number of its entries, and its levels, padded with the
    last of them, int64 [1 + MAX_DEPTH + 1]."""
    last = [folded.levels[-1]] * (MAX_DEPTH + 1 - len(folded.levels))
    return torch.tensor([len(folded.entries), *folded.levels, *last], dtype=torch.int64, device="cpu")
