"""A maximal independent set in torch operators: rounds over the vertices that are open (Luby 1986, with the same
numbers in every round)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph


@operator
def independent_set(graph: Graph, key: int) -> Tensor:
    """The independent set that a greedy pass over the vertices by ascending unsigned words of the stream `key` finds,
    then by number: bool [n]. The graph is undirected; self-loops are ignored."""
    offset, n = graph.offset, graph.num_vertices
    word = random.words(key, torch.arange(n, device=offset.device)) ^ torch.iinfo(torch.int64).min  # unsigned order
    place = torch.empty_like(word)
    place[torch.sort(word, stable=True)[1]] = torch.arange(n, device=offset.device)
    source, target = sorting.expand_rows(offset), graph.neighbors.to(torch.int64)
    between = source != target
    source, target = source[between], target[between]
    chosen = torch.zeros(n, dtype=torch.bool, device=offset.device)
    open_ = ~chosen
    while bool(open_.any()):
        least = torch.full((n,), n, device=offset.device).scatter_reduce_(0, target, place[source], "amin")
        joins = open_ & (place < least)
        chosen |= joins
        open_ = open_ & ~joins
        open_[target[joins[source]]] = False
        held = open_[source] & open_[target]
        source, target = source[held], target[held]
    return chosen
