"""Strongly connected components in torch operators: colours spread forward, searches backward.

A vertex takes the smallest of the vertices that reach it for its colour. The component of a smallest vertex is then
what reaches it within the colour. These components are done, and the rest is coloured again (Orzan, "On distributed
verification and verified distribution", 2004). Vertices without arcs in or out of the rest are components by
themselves, and go first.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.system import devices


@operator
def label_strong(graph: Graph) -> Tensor:
    """See `tgraph.primitives.components.label_strong`."""
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    component = torch.arange(graph.num_vertices, device=graph.device)
    source, target = source[source != target], target[source != target]
    while True:
        devices.end_round(graph.device)
        source, target = _trimmed(source, target, graph.num_vertices)
        if not len(source):
            return component
        color = spread(component, source, target, "amin")
        inside = color.index_select(0, source) == color.index_select(0, target)
        source, target = source[inside], target[inside]  # a component is of one colour
        reaches = spread((component == color).to(torch.int32), target, source, "amax") == 1
        component = torch.where(reaches, color, component)
        left = ~(reaches.index_select(0, source) | reaches.index_select(0, target))
        source, target = source[left], target[left]


def _trimmed(source: Tensor, target: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The arcs without those of vertices that have none in or none out, until all of them have both."""
    while True:
        leaves, entered = (torch.zeros(n, dtype=torch.bool, device=source.device) for _ in range(2))
        leaves[source], entered[target] = True, True
        kept = entered.index_select(0, source) & leaves.index_select(0, target)
        if bool(kept.all()):
            return source, target
        source, target = source[kept], target[kept]


def spread(value: Tensor, source: Tensor, target: Tensor, reduce: str) -> Tensor:
    """The values once each vertex has the least ("amin") or largest ("amax") of those that reach it."""
    while True:
        after = value.scatter_reduce(0, target, value.index_select(0, source), reduce)
        if torch.equal(after, value):
            return value
        value = after
