"""Arcs that are answered: those whose reverses are arcs, too."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.operators.structure.mutual import count_mutual


def counts(graph: Graph) -> tuple[Tensor, Tensor]:
    """Of the different arcs u -> v with u != v that leave each vertex (the number for which v -> u is an arc, too; the
    number of all), int64 [n] each. O(n + m).

    >>> tg.primitives.mutual.counts(tg.Graph.from_edges([0, 1, 1], [1, 0, 2]))
    (tensor([1, 1, 0]), tensor([1, 2, 0]))
    """
    return count_mutual(graph.decoded())
