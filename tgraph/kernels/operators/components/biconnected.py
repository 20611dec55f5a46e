"""Biconnected components in torch operators, by the tests of `kernels/native/components/biconnected.cpp`.

Trees of a breadth-first search, numbered in preorder; the numbers that the arcs of a subtree lead to say which tree
edges are fences (Tarjan and Vishkin, 1985); without these, what is connected is a component without its head.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.core.system import devices
from tgraph.kernels.operators.components.union_find import flatten


@operator
def biconnect(graph: Graph) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.components.biconnect`."""
    n = graph.num_vertices
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    vertex = torch.arange(n, device=graph.device)
    depth, levels = search(graph, _roots(graph, source, target))
    above = depth.index_select(0, target) + 1 == depth.index_select(0, source)
    parent = torch.full_like(vertex, n).scatter_reduce(0, source[above], target[above], "amin")
    parent = torch.where(depth == 0, vertex, parent)
    first, size = _preorder(levels, parent)
    low, high = _reach(levels, parent, first, source, target)
    behind = first.index_select(0, parent) + size.index_select(0, parent)
    fence = (depth == 1) | ((low >= first.index_select(0, parent)) & (high < behind))
    in_tree = (parent.index_select(0, source) == target) | (parent.index_select(0, target) == source)
    joined = (depth > 0) & ~fence
    ends = torch.cat((source[~in_tree], vertex[joined])), torch.cat((target[~in_tree], parent[joined]))
    label = connected(vertex, *ends)
    top = first == torch.full_like(first, n).scatter_reduce(0, label, first, "amin").index_select(0, label)
    head = torch.empty_like(vertex).scatter_(0, label[top], torch.where(depth == 0, -1, parent)[top])
    return label, head.index_select(0, label)


def _roots(graph: Graph, source: Tensor, target: Tensor) -> Tensor:
    """The vertex of largest degree, the smallest of equals, and of other connected components the smallest vertex."""
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    if not len(vertex):
        return vertex
    label = connected(vertex, source, target)
    hub = (graph.out_degree == graph.out_degree.max()).nonzero()[:1, 0]
    return torch.cat((hub, vertex[(label == vertex) & (label != label[hub])]))


def search(graph: Graph, roots: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The depth of each vertex below the roots, -1 where there is none, and the vertices of each depth."""
    depth = torch.full((graph.num_vertices,), -1, dtype=torch.int64, device=graph.device)
    levels: list[Tensor] = []
    while len(roots):
        devices.end_round(graph.device)
        depth[roots] = len(levels)
        levels.append(roots)
        _, positions = gather_rows(graph.offset, roots)
        reached = graph.neighbors.index_select(0, positions).to(torch.int64)
        roots = reached[depth.index_select(0, reached) < 0].unique()
    return depth, levels


def _preorder(levels: list[Tensor], parent: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each vertex in preorder, and the vertices in its subtree."""
    size = torch.ones_like(parent)
    for members in reversed(levels[1:]):
        size.index_add_(0, parent[members], size[members])
    first = torch.zeros_like(parent)
    for level, members in enumerate(levels):
        members = members[devices.sort(parent[members])[1]]
        above, own = parent[members], size[members]
        before = own.cumsum(0) - own
        if level:  # counted from the first child of the same parent
            starts = torch.ones_like(above, dtype=torch.bool)
            starts[1:] = above[1:] != above[:-1]
            before += first[above] + 1 - torch.where(starts, before, 0).cummax(0)[0]
        first[members] = before
    return first, size


def _reach(
    levels: list[Tensor], parent: Tensor, first: Tensor, source: Tensor, target: Tensor
) -> tuple[Tensor, Tensor]:
    """The least and the largest number that the arcs of each subtree lead to."""
    sent = first.index_select(0, target)
    low, high = first.scatter_reduce(0, source, sent, "amin"), first.scatter_reduce(0, source, sent, "amax")
    for members in reversed(levels[1:]):
        low = low.scatter_reduce(0, parent[members], low[members], "amin")
        high = high.scatter_reduce(0, parent[members], high[members], "amax")
    return low, high


def connected(label: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The smallest vertex of each component of the edges (a, b): hooking and pointer jumping."""
    while True:
        u, v = label.index_select(0, a), label.index_select(0, b)
        crossing = u != v
        if not bool(crossing.any()):
            return label
        a, b, u, v = a[crossing], b[crossing], u[crossing], v[crossing]
        label = flatten(label.scatter_reduce(0, torch.maximum(u, v), torch.minimum(u, v), "amin"))
