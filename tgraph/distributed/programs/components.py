"""Weakly connected components over the parts of all ranks.

Each rank joins along its own arcs by union-find. There remain the trees of the ranks that share a vertex, one at its
owner and one at each mirror. Of the vertices that tie the same two trees one is enough; by these the ranks exchange the
smallest known vertex until none changes.

As in Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018) a few arcs of each vertex of an undirected graph come first. They
join most of a large component, whose vertices then need no second pass: their arcs to others are seen from there. A few
of the arcs between the largest trees of all ranks show that these are in one component.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.distributed.parts.part import Part
from tgraph.distributed.streaming.side import Side
from tgraph.primitives import bitmaps, union_find

SAMPLE = 2  # arcs of each vertex that are joined first
LINKS = 1 << 12  # vertices that are looked at for arcs to other ranks
WORTH_SAMPLING = 1 << 13  # arcs of a rank; fewer are joined while a sample would be looked at


def join(part: Part, label: Tensor, directed: bool) -> bool:
    """Write the smallest vertex of each component to `label` [k] of the own vertices; False, with nothing done, where
    these are not their own indices to begin with, so that they may be trees already."""
    held = part.ownership
    is_fresh = torch.equal(label, torch.arange(held.first, held.end, dtype=label.dtype, device=label.device))
    state = torch.tensor([not is_fresh, part.num_arcs], device="cpu")
    samples = not directed and part.streamed is None  # a sample of blocks would take a pass of its own
    stale, arcs = held.gather(state).unbind(1)
    if bool(stale.any()):
        return False
    trees = _Trees(part)
    rest: tuple[Tensor | None, Tensor | None] = None, None
    if samples and int(arcs.sum()) >= WORTH_SAMPLING * held.num_ranks:
        trees.join_inside(None, SAMPLE)
        trees.link()
        rest = trees.outside_largest()
    trees.join_inside(rest[0], None)
    trees.join_outside(rest[1])
    if part.streamed is not None:
        part.streamed.release()
    trees.agree()
    trees.write(label)
    return True


class _Trees:
    """The trees of a rank: of its own vertices, and of the mirrors.

    tree : the root of each local vertex, the smallest local number, [k + h]. smallest : for the tree at each root, the
    smallest vertex known to any rank, [k + h]; without meaning elsewhere. A mirror may be smaller: its owner reports
    that when ranks `agree`.
    """

    def __init__(self, part: Part):
        self._part, held = part, part.ownership
        device = part.mirrors.device
        self._tree = torch.arange(part.num_local, dtype=index_dtype(part.num_local), device=device)
        self._own, self._mirrors = self._tree[: part.num_own], self._tree[part.num_own :]
        number = index_dtype(held.num_rows)
        own = torch.arange(held.first, held.end, dtype=number, device=device)
        self._smallest = torch.cat((own, part.mirrors.to(number)))
        self._exchanged = False

    def join_inside(self, rows: Tensor | None, width: int | None) -> None:
        """Merge the trees at the ends of arcs inside, before any outside: of some own vertices, int64 [j], or of all,
        and `width` arcs of each."""
        if self._part.inside.num_arcs:
            with self._merging():
                _join(self._part.inside, rows, width, self._own)

    def join_outside(self, rows: Tensor | None) -> None:
        """Merge along all arcs to mirrors of some own vertices, or of all, and all arcs of mirrors."""
        outside, cut = self._part.outside, self._part.cut
        with self._merging():
            if outside.num_arcs:
                rows = torch.arange(self._part.num_own, device=self._own.device) if rows is None else rows
                _join(outside, rows, None, self._tree)
            if cut is not None and cut.num_arcs:
                _join(cut, None, None, self._tree)

    @contextmanager
    def _merging(self) -> Iterator[None]:
        """Move the smallest vertices at the roots of own vertices to the roots that these are merged to, which are
        smaller: there is nothing else to move before ranks exchange."""
        if not self._exchanged:
            yield
            return
        vertex = torch.arange(self._part.num_own, dtype=self._own.dtype, device=self._own.device)
        were_roots = bitmaps.pack(self._own == vertex)
        yield
        merged = bitmaps.members(were_roots & ~bitmaps.pack(self._own == vertex))
        roots = self._own.index_select(0, merged).to(torch.int64)
        self._smallest.scatter_reduce_(0, roots, self._smallest.index_select(0, merged), "amin")

    def link(self) -> None:
        """Exchange the smallest vertices of trees that some arcs to mirrors connect."""
        outside = self._part.outside
        rows = torch.arange(0, self._part.num_own, max(1, self._part.num_own // LINKS), device=outside.device)
        first, end = outside.offset[rows], outside.offset[rows + 1]
        rows, first = rows[first < end], first[first < end]
        slots = outside.neighbors[first].to(torch.int64) - self._part.num_own
        slots, place = slots.unique(return_inverse=True)
        source = torch.empty_like(slots).scatter_(0, place, rows)  # one of the arcs to each
        self._exchange(slots, self._own[source].to(torch.int64))

    def agree(self) -> None:
        """Exchange the smallest vertices of trees that share a vertex until none changes. Where no row is cut, trees of
        mirrors alone have nothing to send."""
        part = self._part
        slots = torch.arange(len(self._mirrors), device=self._mirrors.device)
        if part.cut is None:
            slots = bitmaps.members(bitmaps.pack(self._mirrors < part.num_own))
        self._exchange(slots, self._mirrors.index_select(0, slots).to(torch.int64))

    def _exchange(self, slots: Tensor, roots: Tensor) -> None:
        """Exchange the smallest vertices at the `roots` int64 [j] with the roots of some mirrors at their owners, int64
        [j] ascending, until nothing changes."""
        part, smallest, self._exchanged = self._part, self._smallest, True
        channel, vertices = part.to_owners(slots)
        owned = self._own.index_select(0, torch.cat(vertices)).to(torch.int64)
        back = channel.reversed()
        while True:
            up = channel.send(given := smallest.index_select(0, roots))
            down = back.send(sent := smallest.index_select(0, owned))
            smallest.scatter_reduce_(0, owned, up.wait(), "amin")
            smallest.scatter_reduce_(0, roots, down.wait(), "amin")
            changed = not (
                torch.equal(given, smallest.index_select(0, roots))
                and torch.equal(sent, smallest.index_select(0, owned))
            )
            if not bool(part.ownership.gather(torch.tensor(changed, device="cpu")).any()):
                break
        part.requests.bytes_sent += channel.bytes_sent + back.bytes_sent

    def outside_largest(self) -> tuple[Tensor | None, Tensor | None]:
        """The own vertices with arcs inside, and those with arcs to mirrors, that are outside the most frequent tree of
        a sample; or None for all, where that tree is not part of the most frequent one of all ranks."""
        part, root, found = self._part, -1, [-1, -1]
        if part.num_own:
            root = union_find.frequent(self._own)
            rest = bitmaps.pack(self._own != root)
            found = [part.num_own - bitmaps.measure(rest)[0], int(self._smallest[root])]
        counts, labels = part.ownership.gather(torch.tensor(found, device="cpu")).unbind(1)
        if root < 0 or int(labels[counts.argmax()]) != found[1]:
            return None, None
        inside, outside = (bitmaps.members(rest & held) for held in part.with_arcs)
        return inside, outside

    def write(self, label: Tensor) -> None:
        """The smallest vertex of the tree of each own vertex, to `label` [k]."""
        label.copy_(self._smallest.index_select(0, self._own))


def _join(graph: Graph, rows: Tensor | None, width: int | None, label: Tensor) -> None:
    """Merge the trees of `label` at the ends of `width` arcs of some vertices, int64 [j], or of all; where the arcs are
    in blocks, of all arcs of all."""
    if isinstance(graph.layout, Side):
        graph.layout.join_to(graph, label)
        return
    arcs = graph.selection(rows, width=width)
    union_find.join(Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False), label)
