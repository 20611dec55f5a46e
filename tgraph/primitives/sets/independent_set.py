"""Maximal independent sets: vertices none of which are joined, to which none can be added."""

from __future__ import annotations

from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.kernels.operators.sets import independent_set as operators
from tgraph.primitives.simple_graph import refuse_directed


def independent_set(graph: Graph, seed: int) -> Tensor:
    """A maximal independent set of an undirected graph, bool [n]: that of a greedy pass in random order, drawn
    with the `seed`. O(m).

    >>> tg.primitives.independent_set.independent_set(tg.generators.cycle(6), seed=0)
    tensor([False,  True, False,  True, False,  True])
    """
    refuse_directed(graph)
    return operators.independent_set(graph.decoded(), random.key(seed))
