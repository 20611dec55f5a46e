"""Weakly connected components by hooking and pointer jumping, in O(log n) rounds rather than diameter rounds.

Every vertex points at a root, the smallest vertex known of its component. A round hooks the roots at the two ends of
each arc, the larger under the smaller, then halves the depth of the forest until it is flat (Shiloach and Vishkin
1982; FastSV: Zhang, Azad, Buluc 2020). A first round looks at two arcs of each vertex only; that joins most of a
large component, whose vertices then need no second look where every edge is stored both ways (Afforest: Sutton,
Ben-Nun, Barak, IPDPS 2018).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


class WCC(tg.Program):
    """The component of each vertex, int64 [n]: the smallest vertex index in it. The direction of arcs is ignored."""

    SAMPLE = 2

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        self.sampling = True
        return torch.arange(graph.num_vertices, device=graph.device), graph.everything()

    def tensorize(self, graph: tg.Graph, active: tg.Frontier, mode: str) -> tg.Subgraph:
        """The rows of the active vertices in either mode: both ends of an arc are seen from its row."""
        vertices = tg.vertex_select(graph, active)
        selection = tg.neighbor_select(graph, vertices, width=self.SAMPLE if self.sampling else None)
        return tg.reconstruct(graph, active, vertices, selection)

    def compute(self, sub: tg.Subgraph, label: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        rows = sub.reverse()
        lowest = tg.aggregate(rows, label, "min")
        highest = tg.aggregate(rows, label, "max")
        root = label.clone()
        hook(root, label, lowest)
        hook(root, label, tg.aggregate(sub, label, "min"))
        following = apart(sub.graph, label, lowest, highest)
        if self.sampling and not len(following):
            self.sampling = False
            following = outside_largest(sub.graph, label)
        return flatten(root), following


def apart(graph: tg.Graph, label: Tensor, lowest: tg.Received, highest: tg.Received) -> tg.Frontier:
    """The vertices with a neighbour of another label: only their arcs can still join components."""
    own = label if lowest.vertices is None else label.index_select(0, lowest.vertices)
    crossing = (lowest.values < own) | (highest.values > own)
    if lowest.vertices is None:
        return graph.select(crossing)
    mask = torch.zeros(len(label), dtype=torch.bool, device=label.device)
    return graph.select(mask.index_copy_(0, lowest.vertices, crossing))


def outside_largest(graph: tg.Graph, label: Tensor) -> tg.Frontier:
    """All vertices but those of the largest component so far, whose arcs to others are seen from the other end; all
    of them where arcs are not stored both ways."""
    if graph.directed or not len(label):
        return graph.everything()
    return graph.select(label != label.bincount().argmax())


def hook(root: Tensor, label: Tensor, received: tg.Received) -> None:
    """Point the root of every receiving vertex at the label it received, where that is smaller."""
    own = label if received.vertices is None else label.index_select(0, received.vertices)
    root.scatter_reduce_(0, own, received.values, "amin")


def flatten(root: Tensor) -> Tensor:
    """Let every vertex point at the root of its tree: pointer jumping, log(depth) steps."""
    while True:
        above = root.index_select(0, root)
        if torch.equal(above, root):
            return root
        root = above


def wcc(graph: tg.Graph, **options: Any) -> Tensor:
    """Weakly connected components: for each vertex the smallest vertex index of its component, int64 [n].

    Arcs join their ends whichever way they point. `options` go to `tgraph.run`.
    """
    return tg.run(WCC(), graph, **options).values
