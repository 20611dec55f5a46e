"""Weakly connected components over the parts of all ranks.

Each rank joins along its own arcs by union-find. What is left are the trees of the ranks that share a vertex: the owner
has it in one, whoever mirrors it in another. Of the vertices that tie the same two trees one is enough; by these the
ranks exchange the smallest vertex they know of until none changes.

As in Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018) a few arcs of each vertex of an undirected graph come first. They
join most of a large component, whose vertices then need no second look: their arcs to others are seen from there.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.distributed.channel import Channel
from tgraph.distributed.part import Part
from tgraph.primitives import bitmaps, union_find

SAMPLE = 2  # arcs of each vertex that are joined first
WORTH_SAMPLING = 1 << 13  # arcs of a rank; fewer are joined while a sample would be looked at


def join(part: Part, label: Tensor, directed: bool) -> bool:
    """Write the smallest vertex of each component to `label` [k] of the own vertices; False, with nothing done, where
    these are not their own indices to begin with, so that they may be trees already."""
    held, own = part.ownership, part.num_own
    vertex = torch.arange(held.first, held.end, dtype=label.dtype, device=label.device)
    told = torch.tensor([not torch.equal(label, vertex), part.num_arcs])
    stale, arcs = held.gather(told).unbind(1)
    if bool(stale.any()):
        return False
    trees = _Trees(part, vertex)
    if not directed and int(arcs.sum()) >= WORTH_SAMPLING * held.num_ranks:
        trees.join(lambda graph: _first_rows(graph, None, own, SAMPLE))
        trees.agree()
        rest = trees.outside_largest()
        trees.join(lambda graph: _first_rows(graph, rest, own, None))
    else:
        trees.join(lambda graph: _first_rows(graph, None, own, None))
    trees.agree()
    trees.write(label)
    return True


class _Trees:
    """The trees of a rank: of its own vertices, and of the mirrors.

    tree : the root of each local vertex, the smallest local number, [k + h]. smallest : of the tree at each root, the
    smallest vertex that any rank knows of, [k + h]; without meaning elsewhere. Mirrors that are smaller than the root
    are not among these before the ranks `agree`: their owners have them.
    """

    def __init__(self, part: Part, vertex: Tensor):
        self._part = part
        self._tree = torch.arange(part.num_local, dtype=torch.int32 if part.num_local < 2**31 else torch.int64)
        self._smallest = torch.cat((vertex, part.mirrors.to(vertex.dtype)))

    def join(self, arcs: Callable[[Graph], Subgraph]) -> None:
        """Merge the trees at the ends of some arcs, of the graphs inside and outside."""
        before = self._tree.clone()
        if self._part.inside.num_arcs:
            # Among all local vertices: an own vertex may be in the tree of another that a mirror joined it to.
            union_find.join(_among(arcs(self._part.inside), self._part.outside), self._tree)
        if self._part.outside.num_arcs:
            union_find.join(arcs(self._part.outside), self._tree)
        moved = before.index_select(0, (before != self._tree).nonzero().flatten()).to(torch.int64)
        known = self._smallest.index_select(0, moved)  # at the roots of trees that were joined to others
        self._smallest.scatter_reduce_(0, self._tree.index_select(0, moved).to(torch.int64), known, "amin")

    def agree(self) -> None:
        """Exchange the smallest vertices of trees that share one until none changes."""
        channel, mirrored, owned = self._ties()
        smallest, back = self._smallest, channel.reversed()
        while True:
            up = channel.send(given := smallest.index_select(0, mirrored))
            down = back.send(sent := smallest.index_select(0, owned))
            smallest.scatter_reduce_(0, owned, up.wait(), "amin")
            smallest.scatter_reduce_(0, mirrored, down.wait(), "amin")
            changed = not (
                torch.equal(given, smallest.index_select(0, mirrored))
                and torch.equal(sent, smallest.index_select(0, owned))
            )
            if not bool(self._part.ownership.gather(torch.tensor(changed)).any()):
                break
        self._part.requests.bytes_sent += channel.bytes_sent + back.bytes_sent

    def _ties(self) -> tuple[Channel, Tensor, Tensor]:
        """Vertices that tie all trees of this rank to those of others which share a vertex: (the channel from mirrors
        to owners for these alone, the roots of its sending slots, int64, and of its receiving ones)"""
        part, tree = self._part, self._tree
        mine = tree[part.num_own :]
        roots = tree.index_select(0, part.copied)
        theirs = part.replies.send(roots).wait()
        marks, chosen, counts, start = [], [], [], 0
        for size in part.requests.sending:
            here = slice(start, start + size)
            marks.append(bits := bitmaps.pack(_one_of_the_most(mine[here], theirs[here])))
            slots = bitmaps.members(bits)
            chosen.append(mine[here].index_select(0, slots))
            counts.append(len(slots))
            start += size
        owned, theirs_counts = [], []
        arrived = part.requests.send_marks(marks).wait()
        for tied, roots_here in zip(arrived, roots.split(part.replies.sending), strict=True):
            owned.append(roots_here[:0] if tied is None else roots_here.index_select(0, bitmaps.members(tied)))
            theirs_counts.append(len(owned[-1]))
        channel = Channel(part.ownership, counts, theirs_counts)
        return channel, torch.cat(chosen).to(torch.int64), torch.cat(owned).to(torch.int64)

    def outside_largest(self) -> Tensor | None:
        """The own vertices that are not in the tree which most of a sample are in, or None for all, where that is not
        part of what most are in on all ranks."""
        own, root, count = self._tree[: self._part.num_own], -1, -1
        if len(own):
            root = union_find.frequent(own)
            count = int((own == root).sum())
        label = int(self._smallest[root]) if root >= 0 else -1
        counts, labels = self._part.ownership.gather(torch.tensor([count, label])).unbind(1)
        if int(labels[counts.argmax()]) != label:
            return None
        return (own != root).nonzero().flatten()

    def write(self, label: Tensor) -> None:
        """The smallest vertex of the tree of each own vertex, to `label` [k]."""
        torch.index_select(self._smallest, 0, self._tree[: self._part.num_own], out=label)


def _one_of_the_most(mine: Tensor, theirs: Tensor) -> Tensor:
    """Where pairs of roots [h] are others than the most frequent one, or the first of these: bool [h]."""
    if not len(mine):
        return torch.empty(0, dtype=torch.bool)
    most = (mine == union_find.frequent(mine)) & (theirs == union_find.frequent(theirs))
    chosen = ~most
    if bool(most.any()):
        chosen[most.to(torch.uint8).argmax()] = True
    return chosen


def _first_rows(graph: Graph, rows: Tensor | None, own: int, width: int | None) -> Subgraph:
    """The rows of own vertices, int64 [j] or None for all, or the first arcs of each."""
    rows = torch.arange(own) if rows is None and graph.num_vertices != own else rows
    arcs = graph.selection(rows, width=width)
    return Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False)


def _among(sub: Subgraph, graph: Graph) -> Subgraph:
    """The same arcs among the vertices of a graph that has more."""
    rows = torch.arange(sub.graph.num_vertices) if sub.rows is None else sub.rows
    return Subgraph(graph, graph.everything(), "push", rows, sub.selection, mirrored=False)
