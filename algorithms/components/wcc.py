"""Weakly connected components.

`PlainWCC` is the fixpoint that defines them: every vertex takes the smallest label of its neighbours until none
changes, in O(m) for each of at most diameter + 1 rounds. `WCC` computes the same by union-find on a sample of the arcs
first (Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018), in nearly O(n + m).

In Afforest every vertex points at a root, the smallest vertex known of its component. The first round joins along two
arcs of each vertex only. That makes up most of a large component, whose vertices then need no second look: their arcs
to others are seen from the other end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


class PlainWCC(tg.Relaxation):
    """The smallest vertex index of each component, int64 [n], of an undirected graph (see `Graph.to_undirected`).

    >>> graph = tg.Graph.from_edges([1, 3], [0, 4], directed=False)
    >>> tg.run(tg.algorithms.PlainWCC(), graph).values
    tensor([0, 0, 2, 3, 3])
    """

    reduce, edge = "min", "copy"

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        return torch.arange(graph.num_vertices, device=graph.device), graph.everything()


class WCC(tg.Program):
    """The component of each vertex, int64 [n]: the smallest vertex index in it. The direction of arcs is ignored.

    >>> graph = tg.Graph.from_edges([1, 3], [0, 4])
    >>> tg.run(tg.algorithms.WCC(), graph).values
    tensor([0, 0, 2, 3, 3])
    """

    SAMPLE = 2
    WORTH_SAMPLING = 1 << 13  # arcs; fewer are joined while a sample would be looked at

    one_torch_thread = True
    rounds: int | None

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        # What is decoded or streamed is read once either way: a sample would read all of it, too. The kernels of a CPU
        # sample by themselves where every arc is seen from both ends.
        worth = graph.num_arcs >= self.WORTH_SAMPLING and graph.layout is None
        self.sampling, self.mirrored = worth and (graph.directed or graph.device.type != "cpu"), False
        self.rounds = None
        dtype = torch.int32 if graph.num_vertices < 2**31 else torch.int64
        return tg.primitives.values.numbered(graph, dtype), graph.everything()

    def tensorize(self, graph: tg.Graph, active: tg.Frontier, mode: str) -> tg.Subgraph:
        """The rows of the active vertices in either mode: both ends of an arc are seen from its row."""
        stored = graph.transpose() if self.mirrored else graph
        vertices = tg.vertex_select(graph, active)
        selection = tg.neighbor_select(stored, vertices, width=self.SAMPLE if self.sampling else None)
        return tg.reconstruct(graph, active, vertices, selection, "pull" if self.mirrored else "push")

    def compute(self, sub: tg.Subgraph, label: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        label = tg.primitives.union_find.join(sub, label)
        if self.sampling:
            self.sampling = False
            return label, remaining(sub, label)
        self.mirrored = not self.mirrored and sub.graph.directed and not active.is_everything
        return label, active if self.mirrored else sub.graph.nothing()

    def compute_rounds(self, sub: tg.Subgraph, values: Tensor, most: int) -> tuple[Tensor, int] | None:
        if self.sampling:
            return None
        self.rounds = 1  # all rows at once join all
        return tg.primitives.union_find.join(sub, values), 1

    def finish(self, values: Tensor) -> Tensor:
        return tg.primitives.values.to_int64(values)

    def followed(self) -> tg.dynamic.Components:
        return tg.dynamic.Components()


def remaining(sub: tg.Subgraph, label: Tensor) -> tg.Frontier:
    """The vertices whose rows, and the transpose's, hold all arcs that the sample has left to join.

    They are those outside the largest tree, since every arc can be seen from either end. To transpose a graph for that
    would take longer than to look at all its rows.
    """
    outside = tg.primitives.union_find.outside
    if not sub.graph.directed:
        return outside(sub, label, WCC.SAMPLE)
    return outside(sub, label) if "transpose" in sub.graph.caches else sub.graph.everything()


@tg.primitives.calls.reading_pieces
def wcc(graph: tg.Graph, **options: Any) -> Tensor:
    """Weakly connected components: for each vertex the smallest vertex index of its component, int64 [n].

    Arcs join their ends whichever way they point. `options` go to `tgraph.run`.

    >>> tg.algorithms.wcc(tg.Graph.from_edges([1, 3], [0, 4]))
    tensor([0, 0, 2, 3, 3])
    """
    first, *others = (graph,) if options else tg.primitives.edges.pieces(graph)
    label = tg.run(WCC(), first, **options).values
    for later in others:
        arcs = tg.Program().tensorize(later, later.everything(), "push")
        label = tg.primitives.union_find.join(arcs, label)
    return label
