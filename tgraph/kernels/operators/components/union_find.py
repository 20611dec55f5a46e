"""`join` and `outside` in torch operators: rounds of hooking and pointer jumping, O(log n) of them (Shiloach and
Vishkin 1982; FastSV: Zhang, Azad, Buluc 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator
from tgraph.core.frontier import Frontier
from tgraph.core.subgraph import Subgraph


@chosen_operator
def join(sub: Subgraph, label: Tensor) -> bool:
    """See `tgraph.primitives.union_find.join`. False, with nothing done, where the labels are no forest.

    A round hooks, at every arc between two trees, the larger root under the smaller one, the smallest of those that
    offer themselves, and flattens the trees that this makes.
    """
    vertex = torch.arange(len(label), device=label.device)
    if bool(((label < 0) | (label > vertex)).any()):
        return False
    row = sub.row_of_arc if sub.rows is None else sub.rows.index_select(0, sub.row_of_arc)
    neighbors = sub.neighbors
    root = flatten(label)
    while True:
        a, b = root.index_select(0, row), root.index_select(0, neighbors)
        crossing = (a != b).nonzero().flatten()
        if not len(crossing):
            label.copy_(root)
            return True
        row, neighbors = row.index_select(0, crossing), neighbors.index_select(0, crossing)
        a, b = a.index_select(0, crossing), b.index_select(0, crossing)
        hooked = root.scatter_reduce(0, torch.maximum(a, b).to(torch.int64), torch.minimum(a, b), "amin")
        root = flatten(hooked)


def flatten(root: Tensor) -> Tensor:
    """Let every vertex point at the root of its tree: pointer jumping, log(depth) steps."""
    while True:
        above = root.index_select(0, root)
        if torch.equal(above, root):
            return root
        root = above


@chosen_operator
def outside(sub: Subgraph, label: Tensor, root: int, width: int) -> Frontier:
    """See `tgraph.primitives.union_find.outside`."""
    return Frontier(sub.graph, mask=(label != root) & (sub.graph.out_degree > width))
