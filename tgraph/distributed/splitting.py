"""The rows of a rank, given piece by piece, as its part: arcs inside and outside.

They are passed over twice, once to count them and to mark the mirrors, and once to store them where they belong: beside
the part there are a piece, and a byte for each vertex of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.distributed.ownership import Ownership
from tgraph.distributed.part import Part

# The arcs of a piece: masks and sums over them take up to 40 bytes for each.
CHUNK = 1 << 18

# Vertices that share a base in `Numbers`; what is counted from there fits a byte.
_GROUP = 256


class Rows(NamedTuple):
    """Consecutive arcs of a section of the graph: row `first + i` has `neighbors[offset[i]:offset[i + 1]]`, with these
    `weights` if any. The first and the last row may have more, in other pieces."""

    first: int
    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None

    def pieces(self) -> Iterator[Rows]:
        """The same in pieces of at most CHUNK arcs."""
        first, last = int(self.offset[0]), int(self.offset[-1])
        for begin in range(first, last, CHUNK):
            end = min(begin + CHUNK, last)
            low = int(torch.searchsorted(self.offset, begin, right=True)) - 1
            high = int(torch.searchsorted(self.offset, end))
            offset = self.offset[low : high + 1].clamp(begin, end) - begin
            weights = None if self.weights is None else self.weights[begin:end]
            yield Rows(self.first + low, offset, self.neighbors[begin:end], weights)


class Numbers:
    """The marked ones of n vertices, numbered in ascending order. `marked` : bool [n], which is overwritten.

    A vertex has the number of its group's first one, and in a byte how many of the group come before it: as in the rank
    directories of Jacobson, Space-efficient static trees and graphs (FOCS 1989).
    """

    def __init__(self, marked: Tensor):
        found = [part.nonzero().flatten() + begin for begin, part in _chunks(marked)]
        self.vertices = torch.cat(found)  # int64 [h], ascending
        groups = -(-len(marked) // _GROUP)
        self._base = torch.empty(groups, dtype=torch.int64)
        self._within, total = marked.view(torch.uint8), 0
        for begin, part in _chunks(self._within):
            padded = torch.nn.functional.pad(part, (0, -len(part) % _GROUP)).view(-1, _GROUP)
            before = padded.cumsum(1, dtype=torch.int16)
            counts = before[:, -1].to(torch.int64)
            first = begin // _GROUP
            self._base[first : first + len(counts)] = total + counts.cumsum(0) - counts
            total += int(counts.sum())
            part.copy_((before - padded).flatten()[: len(part)])

    def __call__(self, vertices: Tensor) -> Tensor:
        """The numbers of marked vertices [k], int64 [k]."""
        return self._base[vertices // _GROUP] + self._within[vertices]


def _chunks(whole: Tensor) -> Iterator[tuple[int, Tensor]]:
    for begin in range(0, max(len(whole), 1), CHUNK):
        yield begin, whole[begin : begin + CHUNK]


def part_of(
    ownership: Ownership,
    read: Callable[[], Iterable[Rows]],
    dtype: torch.dtype,
    weight_dtype: torch.dtype | None,
    directed: bool,
) -> Part:
    """The part of this rank; to be called by all.

    read : gives its rows, in the order of their arcs, each time that it is called. dtype, weight_dtype : of neighbors
    and weights, None without. directed : whether the arcs inside need not lead both ways.
    """
    own = ownership.num_own
    marked = torch.zeros(ownership.num_rows, dtype=torch.bool)
    inside, outside = (torch.zeros(own + 1, dtype=torch.int64) for _ in range(2))
    for piece in _pieces(read):
        inner = _is_own(piece, ownership)
        at = piece.first - ownership.first
        rows = slice(at + 1, at + len(piece.offset))
        kept = torch.nn.functional.pad(inner.cumsum(0), (1, 0)).index_select(0, piece.offset).diff()
        inside[rows] += kept
        outside[rows] += piece.offset.diff() - kept
        marked[piece.neighbors[~inner].to(torch.int64)] = True
    torch.cumsum(inside, 0, out=inside)
    torch.cumsum(outside, 0, out=outside)
    mirrors = Numbers(marked)
    into = [
        (
            torch.empty(int(offset[-1]), dtype=dtype),
            None if weight_dtype is None else torch.empty(int(offset[-1]), dtype=weight_dtype),
        )
        for offset in (inside, outside)
    ]
    _store(read, ownership, mirrors, into)
    beyond = outside[-1:].expand(len(mirrors.vertices))
    return Part(
        ownership,
        mirrors.vertices,
        _graph(inside, *into[0], directed),
        _graph(torch.cat((outside, beyond)), *into[1], True),
    )


def _store(
    read: Callable[[], Iterable[Rows]],
    ownership: Ownership,
    mirrors: Numbers,
    into: list[tuple[Tensor, Tensor | None]],
) -> None:
    """Write the arcs to the (neighbors, weights) of those inside and those outside, by local numbers."""
    ends = [0, 0]
    for piece in _pieces(read):
        inner = _is_own(piece, ownership)
        for side, kept in enumerate((inner, ~inner)):
            found = piece.neighbors[kept].to(torch.int64)
            local = mirrors(found) + ownership.num_own if side else found - ownership.first
            begin, ends[side] = ends[side], ends[side] + len(local)
            neighbors, weights = into[side]
            neighbors[begin : ends[side]] = local
            if weights is not None and piece.weights is not None:
                weights[begin : ends[side]] = piece.weights[kept]


def _pieces(read: Callable[[], Iterable[Rows]]) -> Iterator[Rows]:
    for rows in read():
        yield from rows.pieces()


def _is_own(piece: Rows, ownership: Ownership) -> Tensor:
    return (piece.neighbors >= ownership.first) & (piece.neighbors < ownership.end)


def _graph(offset: Tensor, neighbors: Tensor, weights: Tensor | None, directed: bool) -> Graph:
    return Graph.of_storage(Csr.unchecked(offset, neighbors, None, len(offset) - 1, weights), directed=directed)
