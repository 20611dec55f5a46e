"""Label propagation in torch operators: the (receiver, label) pairs of a round are sorted and their runs counted."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph


@operator
def vote(graph: Graph, labels: Tensor, rounds: int) -> Tensor:
    """The labels int64 [n], vertex indices, after so many rounds of taking the most frequent one of the neighbours."""
    receiver, sender = sorting.expand_rows(graph.offset), graph.neighbors.long()
    if graph.directed:
        receiver, sender = torch.cat((receiver, sender)), torch.cat((sender, receiver))
    for _ in range(rounds):
        voted = most_frequent(receiver, labels.index_select(0, sender), labels, len(labels))
        if torch.equal(voted, labels):
            break
        labels = voted
    return labels


def most_frequent(receiver: Tensor, received: Tensor, labels: Tensor, n: int) -> Tensor:
    """The most frequent label below n that each vertex received, the least of equals; its own where it received
    none."""
    pair, votes = torch.unique(receiver * n + received, return_counts=True)
    receiver, label = pair // max(n, 1), pair % max(n, 1)
    most = torch.zeros_like(labels).scatter_reduce_(0, receiver, votes, "amax")
    label = torch.where(votes == most.index_select(0, receiver), label, n)
    return labels.scatter_reduce(0, receiver, label, "amin", include_self=False)
