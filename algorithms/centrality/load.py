"""Load centrality: what passes through a vertex where each vertex sends a packet to every other, and packets divide
evenly between the neighbours that are nearer to their target (Goh, Kahng and Kim 2001; Newman 2001).

    load[v] = 1 + sum of load[w] / before[w]     over the out-neighbours w that v is before

with before[w] the number of neighbours from which w is reached first, or the source alone, where an arc from it is a
shortest path: as betweenness, without counting paths, by the primitive `path_counts.count_paths`. O(n + m) for each
source, O(n log n + m) over weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import count_shortest_paths, distances, groups, with_lengths


def load(graph: tg.Graph, *, weighted: bool = False, normalized: bool = True, **options: Any) -> Tensor:
    """Load centrality of every vertex, float64 [n].

    `weighted`, over the weights, as in `betweenness`. `normalized`, divide by the number of ordered pairs of the other
    vertices. `options` go to `tgraph.run` for the searches. The values are those of networkx.

    Raises ArgumentError for weights that are missing, not above zero, or rounded away in a distance.

    >>> tg.algorithms.load(tg.generators.path(4)).round(decimals=3)
    tensor([0.0000, 0.6670, 0.6670, 0.0000], dtype=torch.float64)
    """
    n, graph = graph.num_vertices, (with_lengths(graph, positive=True) if weighted else graph).decoded()
    total = torch.zeros(n, dtype=torch.float64, device=graph.device)
    with tg.one_torch_thread(options.get("backend", "auto")):
        for group in groups(graph, torch.arange(n, device=graph.device)):
            distance = distances(graph, group, weighted, **options)
            counts, onward = count_shortest_paths(graph, distance, weighted, options, even=True)
            passing = onward.mul_(counts).sub_(1).masked_fill_(counts == 0, 0)
            passing[torch.arange(len(group), device=graph.device), group] = 0
            for row in passing:
                total += row  # one by one, so that sums do not depend on the size of a group
    return total / ((n - 1) * (n - 2)) if normalized and n > 2 else total
