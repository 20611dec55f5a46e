"""Ascending rows in Elias-Fano code (Elias, "Efficient storage and retrieval by content and address of static files",
JACM 1974; Fano, 1971; for graphs: Vigna, "Quasi-succinct indices", WSDM 2013), in torch operators.

Of d ascending numbers below n, the floor(log2(n / d)) low bits of each are stored as they are; behind them, the high
bits in unary: number i sets the bit (its high bits + i). That takes log2(n / d) + 2 bits a number at most, less than
one more than any code of all such rows. Rows begin at whole bytes; within a byte the lowest bit is the first.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator, setup_operator
from tgraph.core.rows import gather_stretches, offset_of
from tgraph.errors import ArgumentError

PADDING = 8  # bytes behind the last row, which kernels may read


@setup_operator
def encode_ascending(offset: Tensor, neighbors: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The code of the rows of a CSR: (bytes, int64 [n + 1], at which each row begins; the bytes, uint8).

    offset : int64 [n + 1]. neighbors : int32 or int64 [m], below `size`, ascending in each row.
    Raises ArgumentError, naming the row, where they do not ascend.
    """
    degree = offset.diff()
    row = torch.arange(len(degree)).repeat_interleave(degree)
    values = neighbors.to(torch.int64)
    if len(falls := ((values[1:] < values[:-1]) & (row[1:] == row[:-1])).nonzero()):
        raise descends(int(row[falls[0]]))
    low = _low_bits(degree, size)
    has_arcs = degree > 0
    high = torch.zeros_like(degree)
    high[has_arcs] = (values[offset[1:][has_arcs] - 1] >> low[has_arcs]) + degree[has_arcs]
    start = offset_of((degree * low + high + 7) // 8)
    bits = torch.zeros(8 * (int(start[-1]) + PADDING), dtype=torch.bool)
    place = torch.arange(len(values)) - offset[row]
    begin = 8 * start[row]
    bits[begin + (degree * low)[row] + (values >> low[row]) + place] = True
    for bit in range(int(low.max()) if len(low) else 0):
        is_set = (bit < low[row]) & (values >> bit & 1).bool()
        bits[(begin + place * low[row] + bit)[is_set]] = True
    return start, (bits.view(-1, 8) << torch.arange(8)).sum(1).to(torch.uint8)


@operator
def decode_ascending(bits: Tensor, start: Tensor, rows: Tensor, offset: Tensor, size: int) -> Tensor:
    """The neighbours of `rows` [k], one row after the other, int32, or int64 where `size` needs it.

    bits, start : as `encode_ascending` returns them; start also as int32. offset : int64 [k + 1], of the neighbours to
    return. Raises ArgumentError, naming the row, where the bytes are no code of such a row.
    """
    degree = offset.diff()
    dtype = torch.int32 if size < 2**31 else torch.int64
    first, length = start[rows].to(torch.int64), (start[rows + 1] - start[rows]).to(torch.int64)
    inside = (first >= 0) & (length >= 0) & (first + length <= len(bits) - PADDING)
    if not bool(inside.all()):
        raise damaged(int(rows[(~inside).nonzero()[0]]))
    low = _low_bits(degree, size)
    of_row, positions = gather_stretches(first, length)
    unpacked = (bits[positions].unsqueeze(1) >> torch.arange(8) & 1).view(-1).bool()
    begin = 8 * of_row
    in_row = torch.arange(len(rows)).repeat_interleave(8 * length)
    within = torch.arange(len(unpacked)) - begin[in_row]
    is_high = unpacked & (within >= (degree * low)[in_row])
    found = torch.bincount(in_row[is_high], minlength=len(rows))
    if len(wrong := (found != degree).nonzero()):
        raise damaged(int(rows[wrong[0]]))
    row = torch.arange(len(rows)).repeat_interleave(degree)
    place = torch.arange(len(row)) - offset[row]
    values = (within[is_high] - (degree * low)[row] - place) << low[row]
    for bit in range(int(low.max()) if len(low) else 0):
        stored = bit < low[row]
        values[stored] |= unpacked[(begin[row] + place * low[row] + bit)[stored]].to(torch.int64) << bit
    if len(wrong := (values >= size).nonzero()):
        raise damaged(int(rows[row[wrong[0]]]))
    return values.to(dtype)


def descends(row: int) -> ArgumentError:
    """The error for a row that does not ascend."""
    return ArgumentError(
        f"neighbors: those of row {row} do not ascend; build the graph by Graph.from_edges, which sorts"
    )


def damaged(row: int) -> ArgumentError:
    """The error for a row whose code is none."""
    return ArgumentError(f"bits: row {row} is not in Elias-Fano code; the file may be damaged, write it again")


def _low_bits(degree: Tensor, size: int) -> Tensor:
    """floor(log2(size / degree)), 0 where there are as many numbers as values, or none."""
    apart = torch.where(degree > 0, size // degree.clamp(min=1), 0)
    return (torch.frexp(apart.double()).exponent.to(torch.int64) - 1).clamp_(min=0)
