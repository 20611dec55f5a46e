"""Communities by an ensemble (ECG: Poulin and Theberge, "Ensemble clustering for graphs", Complex Networks 2018).

Partitions by the first level of Louvain, each from another seed, vote for the edges within their communities. An edge
of the 2-core weighs

    least + (1 - least) * the share of the votes for it,

every other edge `least`, and Louvain takes the graph of these weights. What chance decides in one run is evened out,
and edges that bridge communities weigh little. O(m) for each sweep of each partition.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.cohesion.cores import core_number
from tgraph.algorithms.community.louvain import check, louvain, louvain_levels


def ecg(
    graph: tg.Graph,
    *,
    weighted: bool = False,
    min_weight: float = 0.05,
    ensemble_size: int = 16,
    resolution: float = 1.0,
    seed: int = 0,
    backend: str = "auto",
) -> Tensor:
    """Communities by an ensemble of partitions: for each vertex the smallest vertex of its community, int64 [n].

    weighted : in the partitions of the ensemble edges count by graph.weights. min_weight : of an edge without votes,
    from 0 to 1. ensemble_size : how many partitions vote. resolution : of the last partition. seed : another one gives
    another, similar partition. `backend` names the kernels, "auto" takes the best.
    Raises ArgumentError for a directed graph, weights that are negative or not finite, a min_weight outside of 0..1, a
    negative resolution, and an ensemble_size below 1.

    >>> tg.algorithms.ecg(tg.generators.barbell(4, 0))
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    check(resolution, ensemble_size, "ensemble_size")
    if not 0 <= min_weight <= 1:
        raise tg.errors.ArgumentError(f"min_weight: expected a number from 0 to 1, got {min_weight}")
    tg.primitives.components.check_undirected(graph)
    graph.ensure_valid()
    arcs = graph.decoded()
    offset, neighbors = arcs.offset, arcs.neighbors.long()
    source = torch.arange(graph.num_vertices, device=graph.device).repeat_interleave(offset.diff())
    votes = torch.zeros(len(neighbors), dtype=torch.float64, device=graph.device)
    for member in tg.progress.track(range(ensemble_size), "ECG"):
        level = louvain_levels(graph, weighted=weighted, seed=seed + 1000 * member, max_level=1, backend=backend)[0]
        votes += level[source] == level[neighbors]
    inside = core_number(graph, backend=backend) >= 2
    share = torch.where(inside[source] & inside[neighbors], votes / ensemble_size, 0.0)
    weights = min_weight + (1 - min_weight) * share
    agreed = tg.Graph(offset, arcs.neighbors, weights, directed=False)
    return louvain(agreed, weighted=True, resolution=resolution, seed=seed, backend=backend)
