"""Arcs of a graph in a layout, or in a store: rows are decoded, or read, for each batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.core.storage import Layout
from tgraph.errors import ArgumentError
from tgraph.formats.row_column import ByColumn
from tgraph.kernels.operators.sampling.labor import least_arcs
from tgraph.kernels.operators.sampling.neighbors import Relation, sample_neighbors
from tgraph.sampling.hops import Chosen
from tgraph.sampling.in_store import StoreRows
from tgraph.sampling.relations import Arcs, ends_between, sums_of

ROWS = 2048  # decoded together, by all threads

Rows = tuple[Tensor, Tensor, "Tensor | None"]  # (offset int64 [k + 1], neighbors [e], weights [e] or None)


@dataclass(frozen=True)
class StoredArcs:
    """Arcs in a layout, in rows by destination; the other fields are those of `Arcs`.

    first : int64 [n + 1], the number of the first arc of each row, None where arcs have no numbers.
    """

    storage: Layout | StoreRows
    weighted: bool
    first: Tensor | None
    name: str

    @classmethod
    def of(cls, graph: Graph, direction: str, weighted: bool, numbered: bool, name: str) -> StoredArcs | None:
        """The arcs of a graph in a layout; None where numbers of arcs are wanted in another order than rows. Raises
        ArgumentError for missing weights."""
        if weighted and graph.weight_dtype is None:
            raise ArgumentError(f"{name}: has no weights to sample by; give it weights, or leave weighted=False")
        if direction == "in" and graph.directed:
            if numbered:
                return None
            graph = graph.transpose()
        storage = graph.storage
        if not graph.directed and isinstance(storage, ByColumn):
            storage = storage.transposed()  # the same arcs, by row
        assert storage.layout is not None
        return cls(storage.layout, weighted, graph.row_offset() if numbered else None, name)

    @classmethod
    def in_store(cls, rows: StoreRows, direction: str, weighted: bool, numbered: bool, name: str) -> StoredArcs:
        """Arcs that stay in a store. Raises ArgumentError for weights, and directions other than "in"."""
        if direction != "in" or weighted:
            raise ArgumentError(
                f"{name}: rows in a store are by destination and have no weights; leave direction='in' and "
                "weighted=False, or read the edges with GraphStore.csc()"
            )
        return cls(rows, False, rows.offset if numbered else None, name)

    @property
    def num_sources(self) -> int:
        return self.storage.num_vertices

    @property
    def num_rows(self) -> int:
        return self.storage.num_rows if isinstance(self.storage, StoreRows) else self.storage.num_vertices

    def rows(self, vertices: Tensor) -> Rows:
        """Decoded rows of `vertices` int64 [k]. Raises ArgumentError for invalid weights, if `weighted`."""
        offset, neighbors, weights = self.storage.rows(vertices)
        if not self.weighted or weights is None:
            return offset, neighbors, None
        if not bool((weights >= 0).all() & weights.isfinite().all()):
            place = int((~(weights >= 0) | ~weights.isfinite()).nonzero()[0])
            row = int(vertices[torch.searchsorted(offset, place, right=True) - 1])
            raise ArgumentError(
                f"{self.name}: arcs are sampled by finite weights that are not negative, vertex {row} has one of "
                f"{weights[place].item()}; replace it, or leave weighted=False"
            )
        return offset, neighbors, weights

    def numbered(self, arc: Tensor) -> Tensor | None:
        """The sampled arcs, where they have numbers."""
        return None if self.first is None else arc

    def drawn(self, vertices: Tensor, fanout: int, replace: bool, key: int, place: int) -> Chosen:
        """The arcs that `NeighborSampler` draws for `vertices`, at positions from `place` on in the batch."""

        def draw(part: Tensor, begin: int) -> Chosen:
            of_part = random.advanced(key, place + begin)
            if not self.weighted and fanout >= 0 and (stored := self.storage.stretches(part)) is not None:
                count, row, at = _draw(offset_of(stored.degree), None, None, fanout, replace, of_part)
                arc = at - offset_of(stored.degree)[row]
                neighbors = stored.neighbors[stored.first[row] + arc * stored.distance]
            else:
                offset, held, weights = self.rows(part)
                count, row, at = _draw(offset, held, weights, fanout, replace, of_part)
                arc, neighbors = at - offset[row], held[at]
            return Chosen(count, neighbors.long(), self._numbers(part[row], arc))

        return self.chosen(vertices, draw)

    def least(self, vertices: Tensor, fanout: int, key: int) -> Chosen:
        """The arcs that `LaborSampler` takes for `vertices`."""

        def choose(part: Tensor, begin: int) -> Chosen:
            offset, neighbors, _ = self.rows(part)
            count, at = least_of_rows(offset, neighbors, torch.arange(len(part)), fanout, key)
            row = torch.arange(len(part)).repeat_interleave(count)
            return Chosen(count, neighbors[at].long(), self._numbers(part[row], at - offset[row]))

        return self.chosen(vertices, choose)

    def between(
        self, sources: Tensor, targets: Tensor, trees: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """As `Arcs.between`; the numbers are empty where arcs have none."""
        offset, neighbors, _ = self.rows(targets)
        column = torch.arange(len(targets)).repeat_interleave(offset.diff())
        arc = torch.arange(len(column)) - offset[column]
        inside, place = ends_between(column, neighbors.long(), sources, targets, trees, self.num_sources)
        number = self._numbers(targets[column[inside]], arc[inside])
        return place, column[inside], arc[:0] if number is None else number

    def chosen(self, vertices: Tensor, choose: Callable[[Tensor, int], Chosen]) -> Chosen:
        """The arcs of choose(part of the vertices, position of its first), for all `vertices`, part by part."""
        size = max(len(vertices), 1) if self.storage.streams else ROWS  # blocks of a file are read once
        parts = [choose(vertices[begin : begin + size], begin) for begin in range(0, max(len(vertices), 1), size)]
        counts, neighbors, numbers = zip(*parts, strict=True)
        return Chosen(torch.cat(counts), torch.cat(neighbors), None if self.first is None else torch.cat(numbers))

    def _numbers(self, vertices: Tensor, arc: Tensor) -> Tensor | None:
        """The numbers of arcs in their rows as numbers in the graph."""
        return None if self.first is None else self.first[vertices] + arc


def least_of_rows(offset: Tensor, neighbors: Tensor, rows: Tensor, fanout: int, key: int) -> tuple[Tensor, Tensor]:
    """(number in each row, positions) of the arcs with the smallest words of their sources; all if negative."""
    if fanout < 0:
        bounds, arc = gather_rows(offset, rows)
        return bounds.diff(), arc
    return least_arcs(offset, neighbors, rows, fanout, key)


def drawn_in_memory(arcs: Arcs, vertices: Tensor, fanout: int, replace: bool, key: int, place: int) -> Chosen:
    """As `StoredArcs.drawn`, of arcs in memory."""
    own = random.advanced(key, place)
    relation = Relation(arcs.offset, arcs.neighbors, 1, 0, own, [fanout], arcs.weights, arcs.sums, arcs.bounds)
    found = sample_neighbors([relation], {0: vertices}, 2, 1, replace, False, False, None)
    at = found.arcs[0]
    return Chosen(torch.bincount(found.columns[0], minlength=len(vertices)), arcs.neighbors[at].long(), at)


def _draw(
    offset: Tensor, neighbors: Tensor | None, weights: Tensor | None, fanout: int, replace: bool, key: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs drawn for all rows: (number in each row, the row of each arc, its position), int64. neighbors : None
    where only positions are used."""
    if neighbors is None:
        neighbors = torch.zeros(int(offset[-1]), dtype=torch.int32)  # unread pages take no memory
    summed = (None, None, None) if weights is None else sums_of(offset, weights)
    relation = Relation(offset, neighbors, 1, 0, key, [fanout], *summed)
    found = sample_neighbors([relation], {0: torch.arange(len(offset) - 1)}, 2, 1, replace, False, False, None)
    return torch.bincount(found.columns[0], minlength=len(offset) - 1), found.columns[0], found.arcs[0]
