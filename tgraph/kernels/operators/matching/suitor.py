"""The greedy matching in torch operators: in each round the edges that come first at both of their ends."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.system import devices


@operator
def heavy_matching(offset: Tensor, neighbors: Tensor, weights: Tensor) -> Tensor:
    """The vertex that each one is matched with, or -1, int64 [n], by a greedy pass over the edges of positive weight,
    the heaviest first, then by their smaller and their larger end. The graph is undirected; self-loops are ignored."""
    source, target, arc = _edges(offset, neighbors)
    positive = weights[arc] > 0
    source, target, arc = source[positive], target[positive], arc[positive]
    wide = torch.float64 if weights.dtype.is_floating_point else torch.int64
    order = devices.sort(-weights[arc].to(wide))[1]
    return _match(len(offset) - 1, source[order], target[order])


@operator
def random_matching(offset: Tensor, neighbors: Tensor, key: int) -> Tensor:
    """The same with edges in the order of the words of the stream `key`, the largest first; that of the edge between u
    and v > u is number u n + v."""
    n = len(offset) - 1
    source, target, _ = _edges(offset, neighbors)
    word = random.words(key, source * n + target) ^ torch.iinfo(torch.int64).min  # unsigned order
    order = torch.sort(word, descending=True, stable=True)[1]
    return _match(n, source[order], target[order])


def _edges(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    arc = (source < target).nonzero().squeeze(1)
    return source[arc], target[arc], arc


def _match(n: int, source: Tensor, target: Tensor) -> Tensor:
    """The matching by edges in order."""
    mate = torch.full((n,), -1, device=source.device)
    while len(source):
        number = torch.arange(len(source), device=source.device)
        first = torch.full((n,), len(source), device=source.device)
        for end in (source, target):
            first.scatter_reduce_(0, end, number, "amin")
        chosen = (first[source] == number) & (first[target] == number)
        mate[source[chosen]], mate[target[chosen]] = target[chosen], source[chosen]
        left = (mate[source] < 0) & (mate[target] < 0)
        source, target = source[left], target[left]
    return mate
