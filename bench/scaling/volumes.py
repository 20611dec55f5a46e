"""The values that ranks send each other in an iteration, counted arc by arc."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

import tgraph as tg
from tgraph.core.building import sorting

WINDOW = 2**25  # arcs that are sorted together: some 40 bytes for each


@dataclass(frozen=True)
class Volumes:
    """What p ranks hold, and send where every vertex has a new value.

    arcs, inside : int64 [p], the arcs at each rank, and those of them whose ends it owns both.
    values, sums : int64 [p, p], in row r and column o the vertices of rank o whose values rank r reads, and those that
        it computes sums for, each once; nothing on the diagonal.
    levels : int64 [k], the pairs of `values` by the number that a vertex was given; empty without numbers.
    """

    arcs: Tensor
    inside: Tensor
    values: Tensor
    sums: Tensor
    levels: Tensor

    @property
    def total(self) -> int:
        """Values and sums that are sent in all."""
        return int(self.values.sum() + self.sums.sum())

    @property
    def by_rank(self) -> Tensor:
        """What each rank sends or receives, whichever is more: links carry both at the same time. int64 [p]."""
        received = self.values.sum(1) + self.sums.sum(0)
        sent = self.values.sum(0) + self.sums.sum(1)
        return torch.maximum(received, sent)

    @property
    def peers(self) -> int:
        """The ranks from which the busiest rank receives something."""
        return int(((self.values > 0) | (self.sums.T > 0)).sum(1).max())


def count(into: tg.Graph, owner: Tensor, rank: Tensor, parts: int, number: Tensor | None = None) -> Volumes:
    """Count what ranks exchange.

    into : arcs by target, so that the row of an arc is its target and the neighbour its source. owner : int16 [n] and
    rank : int16 [m], of vertices and of arcs, 0..parts - 1. number : int64 [n], 0 or more, of which `levels` counts
    the vertices that are read. Besides what is given, WINDOW arcs, but all of one rank, and n + parts ** 2 numbers are
    in memory at a time.
    """
    arcs = torch.bincount(rank, minlength=parts)
    inside = torch.zeros(parts, dtype=torch.int64)
    values, sums = (torch.zeros(parts * parts, dtype=torch.int64) for _ in range(2))
    levels = torch.zeros(0 if number is None else int(number.max()) + 1, dtype=torch.int64)
    for first, last in windows(arcs):
        position = ((rank >= first) & (rank < last)).nonzero().flatten()
        held = rank[position]
        source = into.neighbors[position]
        target = torch.searchsorted(into.offset, position, right=True, out_int32=True) - 1
        inside += torch.bincount(held[(owner[source] == held) & (owner[target] == held)], minlength=parts)
        reader, read = distinct(held, source, owner)
        values += torch.bincount(reader.long() * parts + owner[read], minlength=parts * parts)
        if number is not None:
            levels += torch.bincount(number[read], minlength=len(levels))
        adder, added = distinct(held, target, owner)
        sums += torch.bincount(adder.long() * parts + owner[added], minlength=parts * parts)
    return Volumes(arcs, inside, values.view(parts, parts), sums.view(parts, parts), levels)


def windows(arcs: Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of ranks with at most WINDOW arcs, or a single rank."""
    first, held = 0, 0
    for rank, size in enumerate(arcs.tolist()):
        if held and held + size > WINDOW:
            yield first, rank
            first, held = rank, 0
        held += size
    yield first, len(arcs)


def distinct(rank: Tensor, vertex: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
    """The pairs of a rank and a vertex that it does not own, each once."""
    away = owner[vertex] != rank
    if not bool(away.any()):
        return rank[:0], vertex[:0]
    ends = rank[away].int(), vertex[away]
    count = max(len(owner), int(ends[0].max()) + 1)
    pairs = tg.Graph.from_edges(*ends, num_vertices=count, multi="first")
    return sorting.expand_rows(pairs.offset, torch.int32), pairs.neighbors
