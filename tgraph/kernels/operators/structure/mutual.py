"""Arcs that have their reverses, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def count_mutual(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor]:
    """The different arcs u -> v with u != v at each u: (those for which v -> u is one, too, and all), int64 [n] each.
    Rows ascend."""
    n = len(offset) - 1
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    key = torch.unique_consecutive((source * n + target)[source != target])
    source, target = key // max(n, 1), key % max(n, 1)
    answered = torch.isin(target * n + source, key, assume_unique=True)
    return torch.bincount(source[answered], minlength=n), torch.bincount(source, minlength=n)
