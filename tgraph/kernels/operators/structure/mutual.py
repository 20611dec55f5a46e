"""Arcs that have their reverses, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph


@operator
def count_mutual(graph: Graph) -> tuple[Tensor, Tensor]:
    """The different arcs u -> v with u != v at each u: (those for which v -> u is one, too, and all), int64 [n] each.
    Rows ascend."""
    n = graph.num_vertices
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    key = torch.unique_consecutive((source * n + target)[source != target])
    source, target = key // max(n, 1), key % max(n, 1)
    answered = torch.isin(target * n + source, key, assume_unique=True)
    return torch.bincount(source[answered], minlength=n), torch.bincount(source, minlength=n)
