"""The rows of a rank, given piece by piece, as its part: arcs inside and outside.

Two passes over the pieces count the arcs and mark the mirrors, and then store the arcs, in memory or in blocks: beside
the part there are a piece, and a byte for each vertex of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.distributed.parts.part import Part
from tgraph.distributed.ranks.ownership import Ownership, is_own
from tgraph.distributed.streaming.within import Counted

# The arcs of a piece: masks and sums over them take up to 40 bytes for each.
CHUNK = 1 << 18

CPU = torch.device("cpu")

# Vertices that share a base in `Numbers`; counts from there fit a byte.
_GROUP = 256


class Rows(NamedTuple):
    """Consecutive arcs of a section of the graph: row `first + i` has `neighbors[offset[i]:offset[i + 1]]`, with these
    `weights` if any. The first and the last row may have more, in other pieces."""

    first: int
    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None

    def pieces(self) -> Iterator[Rows]:
        """The rows in pieces of at most CHUNK arcs."""
        first, last = int(self.offset[0]), int(self.offset[-1])
        for begin in range(first, last, CHUNK):
            end = min(begin + CHUNK, last)
            low = int(torch.searchsorted(self.offset, begin, right=True)) - 1
            high = int(torch.searchsorted(self.offset, end))
            offset = self.offset[low : high + 1].clamp(begin, end) - begin
            weights = None if self.weights is None else self.weights[begin:end]
            yield Rows(self.first + low, offset, self.neighbors[begin:end], weights)


class Numbers:
    """Numbers of the marked among n vertices, in ascending order. marked : bool [n], overwritten.

    The number of a vertex is that of the first of its group, plus a byte that counts the marked ones before it there:
    the rank directories of Jacobson, Space-efficient static trees and graphs (FOCS 1989).
    """

    def __init__(self, marked: Tensor):
        found = [part.nonzero().flatten() + begin for begin, part in _chunks(marked)]
        self.vertices: Tensor = torch.cat(found)  # int64 [h], ascending
        groups = -(-len(marked) // _GROUP)
        self._base = torch.empty(groups, dtype=torch.int64, device="cpu")
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
    take: Take | None = None,
    device: torch.device = CPU,
) -> Part:
    """The part of this rank; to be called by all.

    read : yields its rows, in the order of their arcs, in each call. dtype, weight_dtype : of neighbors and weights,
    None without. directed : whether the arcs inside need not lead both ways. take : returns the storage of the arcs
    inside and outside once they are counted, or None for memory. Rows are read on the CPU, the part is on `device`.
    """
    own = ownership.num_own
    marked = torch.zeros(ownership.num_rows, dtype=torch.bool, device="cpu")
    inside, outside = (torch.zeros(own + 1, dtype=torch.int64, device="cpu") for _ in range(2))
    for piece in _pieces(read):
        inner = is_own(piece.neighbors, ownership)
        at = piece.first - ownership.first
        rows = slice(at + 1, at + len(piece.offset))
        inner_arcs = torch.nn.functional.pad(inner.cumsum(0), (1, 0)).index_select(0, piece.offset).diff()
        inside[rows] += inner_arcs
        outside[rows] += piece.offset.diff() - inner_arcs
        marked[piece.neighbors[~inner].to(torch.int64)] = True
    torch.cumsum(inside, 0, out=inside)
    torch.cumsum(outside, 0, out=outside)
    mirrors = Numbers(marked)
    counted = Counted(inside, outside, mirrors.vertices)
    sides = (None if take is None else take(counted)) or _in_memory(counted, dtype, weight_dtype)
    _store(read, ownership, mirrors, sides)
    return Part.on(device, ownership, mirrors.vertices, sides[0].graph(directed), sides[1].graph(True))


class Taking(Protocol):
    """The storage of the arcs of a side."""

    def add(self, neighbors: Tensor, weights: Tensor | None) -> None:
        """Add the next arcs, by local numbers [e], with weights [e] if any."""

    def graph(self, directed: bool) -> Graph:
        """The graph of all arcs added."""


Take = Callable[[Counted], "tuple[Taking, Taking] | None"]


class _InMemory:
    """The arcs of a side in CSR. offset : int64 [n + 1]."""

    def __init__(self, offset: Tensor, dtype: torch.dtype, weight_dtype: torch.dtype | None):
        arcs = int(offset[-1])
        self._offset, self._neighbors, self._end = offset, torch.empty(arcs, dtype=dtype, device="cpu"), 0
        self._weights = None if weight_dtype is None else torch.empty(arcs, dtype=weight_dtype, device="cpu")

    def add(self, neighbors: Tensor, weights: Tensor | None) -> None:
        begin, self._end = self._end, self._end + len(neighbors)
        self._neighbors[begin : self._end] = neighbors
        if self._weights is not None and weights is not None:
            self._weights[begin : self._end] = weights

    def graph(self, directed: bool) -> Graph:
        csr = Csr.unchecked(self._offset, self._neighbors, None, len(self._offset) - 1, self._weights)
        return Graph.of_storage(csr, directed=directed)


def _in_memory(counted: Counted, dtype: torch.dtype, weight_dtype: torch.dtype | None) -> tuple[Taking, Taking]:
    inside, outside, mirrors = counted
    outside = torch.cat((outside, outside[-1:].expand(len(mirrors))))
    return _InMemory(inside, dtype, weight_dtype), _InMemory(outside, dtype, weight_dtype)


def _store(
    read: Callable[[], Iterable[Rows]],
    ownership: Ownership,
    mirrors: Numbers,
    sides: tuple[Taking, Taking],
) -> None:
    """Add the arcs by local numbers to the storages inside and outside."""
    for piece in _pieces(read):
        inner = is_own(piece.neighbors, ownership)
        for outer, mask in enumerate((inner, ~inner)):
            found = piece.neighbors[mask].to(torch.int64)
            local = mirrors(found) + ownership.num_own if outer else found - ownership.first
            sides[outer].add(local, None if piece.weights is None else piece.weights[mask])


def _pieces(read: Callable[[], Iterable[Rows]]) -> Iterator[Rows]:
    for rows in read():
        yield from rows.pieces()
