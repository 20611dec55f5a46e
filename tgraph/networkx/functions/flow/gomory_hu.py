"""The tree that has the minimum cut of every pair of nodes (Gomory and Hu 1961; Gusfield 1990)."""

from __future__ import annotations

import math

import networkx as nx
import torch

from tgraph.io.columns import Column
from tgraph.networkx.functions._building import build, column_of
from tgraph.networkx.functions.flow.flow import number_of, solve, solver_of_networkx, whole
from tgraph.networkx.registry import implements


@implements(cost="superlinear", only={"flow_func": solver_of_networkx}, multigraphs=False)
def gomory_hu_tree(G, capacity="capacity", flow_func=None):
    if len(G) == 0:
        raise nx.NetworkXError("Empty Graph does not have a Gomory-Hu tree representation")
    nodes, n = list(G), len(G)
    above, value = [0] * n, [math.inf] * n
    for v in range(1, n):
        other = above[v]
        cut, _, side = solve(G, nodes[v], nodes[other], capacity, source_side=True)
        assert side is not None
        value[v] = number_of(cut, whole(G, capacity))
        inside = side.tolist()
        for w in range(1, n):
            if w != v and inside[w] and above[w] == other:
                above[w] = v
                value[w] = value[w] if value[w] != math.inf else value[v]
        if other != 0 and inside[above[other]]:
            above[v], above[other] = above[other], v
            value[v], value[other] = value[other], value[v]
    ends = torch.arange(1, n), torch.tensor(above[1:], dtype=torch.int64)
    column: Column = column_of(value[1:])
    return build(False, G._tensors.nodes, *ends, edge_columns={"weight": column} if n > 1 else {})
