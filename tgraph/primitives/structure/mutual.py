"""Arcs that are answered: those whose reverses are arcs, too."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.kernels.operators.structure.mutual import count_mutual
from tgraph.primitives.edges import in_parts


def counts(graph: Graph) -> tuple[Tensor, Tensor]:
    """Of the different arcs u -> v with u != v that leave each vertex (the number for which v -> u is an arc, too; the
    number of all), int64 [n] each. O(n + m). A graph in a layout is decoded part by part.

    >>> tg.primitives.mutual.counts(tg.Graph.from_edges([0, 1, 1], [1, 0, 2]))
    (tensor([1, 1, 0]), tensor([1, 2, 0]))
    """
    if graph.layout is None or graph.storage.is_distributed:
        return count_mutual(graph.decoded())
    n, reverse = graph.num_vertices, graph.transpose_detached()
    mutual, leaving = (torch.zeros(n, dtype=torch.int64, device=graph.device) for _ in range(2))
    for arcs in in_parts(graph):
        out = _different(arcs.source, arcs.target, n)
        leaving.add_(torch.bincount(out // max(n, 1), minlength=n))
        if not graph.directed:
            continue
        offset, target, _ = reverse.storage.rows(torch.arange(arcs.rows.start, arcs.rows.stop, device=graph.device))
        back = _different(sorting.expand_rows(offset) + arcs.rows.start, target, n)
        answered = out[torch.isin(out, back, assume_unique=True)]
        mutual.add_(torch.bincount(answered // max(n, 1), minlength=n))
    return (mutual if graph.directed else leaving), leaving


def _different(source: Tensor, target: Tensor, n: int) -> Tensor:
    """source * n + target of the different arcs that are no self-loops; rows ascend."""
    return torch.unique_consecutive((source * n + target)[source != target])
