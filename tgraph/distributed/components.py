"""Weakly connected components over the parts of all ranks.

Each rank joins along its own arcs by union-find. What is left are the trees of the ranks that share a vertex: the owner
has it in one, whoever mirrors it in another. These exchange the smallest vertex they know of until none changes.

As in Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018) a few arcs of each vertex of an undirected graph come first. They
join most of a large component, whose vertices then need no second look: their arcs to others are seen from there.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.distributed.part import Part
from tgraph.primitives import union_find

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
        rest = (trees.smallest_of_own() != _most_frequent(part, trees.smallest_of_own())).nonzero().flatten()
        trees.join(lambda graph: _first_rows(graph, rest, own, None))
    else:
        trees.join(lambda graph: _first_rows(graph, None, own, None))
    trees.agree()
    label.copy_(trees.smallest_of_own())
    return True


class _Trees:
    """The trees of a rank: of its own vertices, and of the mirrors.

    tree : the root of each local vertex, by local numbers, [k + h]. smallest : of the tree at each root, the smallest
    vertex that any rank knows of, [k + h]; without meaning elsewhere.
    """

    def __init__(self, part: Part, vertex: Tensor):
        self._part = part
        self._tree = torch.arange(part.num_local, dtype=torch.int32 if part.num_local < 2**31 else torch.int64)
        self._smallest = torch.cat((vertex, part.mirrors.to(vertex.dtype)))

    def join(self, arcs: Callable[[Graph], Subgraph]) -> None:
        """Merge the trees at the ends of some arcs, of the graphs inside and outside."""
        own, known = self._part.num_own, self._smallest.index_select(0, self._tree)
        if self._part.inside.num_arcs:
            # Among all local vertices: an own vertex may be in the tree of another that a mirror joined it to.
            union_find.join(_among(arcs(self._part.inside), self._part.outside), self._tree)
        if self._part.outside.num_arcs:
            union_find.join(arcs(self._part.outside), self._tree)
        assert len(self._tree) >= own
        self._smallest.scatter_reduce_(0, self._tree.to(torch.int64), known, "amin")

    def agree(self) -> None:
        """Exchange the smallest vertices of trees that share one until none changes."""
        part, smallest = self._part, self._smallest
        mirrored, owned = (
            self._tree.index_select(0, places).to(torch.int64)
            for places in (torch.arange(part.num_own, part.num_local), part.copied)
        )
        while True:
            back = part.give_back(given := smallest.index_select(0, mirrored))
            out = part.replies.send(sent := smallest.index_select(0, owned))
            smallest.scatter_reduce_(0, owned, back.wait(), "amin")
            smallest.scatter_reduce_(0, mirrored, out.wait(), "amin")
            changed = not (
                torch.equal(given, smallest.index_select(0, mirrored))
                and torch.equal(sent, smallest.index_select(0, owned))
            )
            if not bool(part.ownership.gather(torch.tensor(changed)).any()):
                break

    def smallest_of_own(self) -> Tensor:
        """The smallest vertex of the tree of each own vertex, [k]."""
        return self._smallest.index_select(0, self._tree[: self._part.num_own])


def _first_rows(graph: Graph, rows: Tensor | None, own: int, width: int | None) -> Subgraph:
    """The rows of own vertices, int64 [j] or None for all, or the first arcs of each."""
    rows = torch.arange(own) if rows is None and graph.num_vertices != own else rows
    arcs = graph.selection(rows, width=width)
    return Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False)


def _among(sub: Subgraph, graph: Graph) -> Subgraph:
    """The same arcs among the vertices of a graph that has more."""
    rows = torch.arange(sub.graph.num_vertices) if sub.rows is None else sub.rows
    return Subgraph(graph, graph.everything(), "push", rows, sub.selection, mirrored=False)


def _most_frequent(part: Part, label: Tensor) -> int:
    """The label that most of a sample of own vertices have, on any rank."""
    if len(label):
        best = union_find.frequent(label)
        held = torch.tensor([int((label == best).sum()), best])
    else:
        held = torch.tensor([-1, -1])
    counts, labels = part.ownership.gather(held).unbind(1)
    return int(labels[counts.argmax()])
