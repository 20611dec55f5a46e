"""Edge betweenness: how many shortest paths go along each edge (Girvan and Newman 2002, by Brandes 2008).

From a source s, paths[u] / paths[v] of the shortest paths to v end in the arc u -> v, so that it carries

    paths[u] * (1 + dependency[v]) / paths[v]

where distance[v] = distance[u] + its length, and nothing elsewhere. The primitives `path_counts.count_paths` and
`add_along_arcs` give the factors and their sums. O(n + m) for each source, O(n log n + m) over weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import count_shortest_paths, distances, groups, with_lengths
from tgraph.algorithms.centrality.betweenness import chosen_sources


def edge_betweenness(
    graph: tg.Graph,
    sources: Any = None,
    *,
    k: int | None = None,
    normalized: bool = True,
    weighted: bool = False,
    seed: int | None = None,
    **options: Any,
) -> Tensor:
    """Betweenness centrality of every edge over shortest paths: float64 [m], a value for each stored arc, the same for
    both of an undirected edge.

    `sources`, vertex indices that the paths start from, None for all; `k`, so many drawn at random with the `seed`
    instead. `normalized`, divide by the number of pairs of vertices; otherwise an undirected path counts once.
    `weighted`, over the weights, as in `tgraph.algorithms.betweenness`. `options` go to `tgraph.run` for the searches.
    The values are those of networkx: with `k`, sums are scaled up to all sources; with `sources`, they are those of
    `networkx.edge_betweenness_centrality_subset`. Parallel arcs that are as short as the shortest of them share.

    Raises ArgumentError for sources that are no vertices, for `k` out of range, and for weights that are missing, not
    above zero, or rounded away in a distance.

    >>> graph = tg.generators.path(4)
    >>> tg.algorithms.edge_betweenness(graph, normalized=False)
    tensor([3., 3., 4., 4., 3., 3.], dtype=torch.float64)
    >>> graph.to_edge_index()
    tensor([[0, 1, 1, 2, 2, 3],
            [1, 0, 2, 1, 3, 2]])
    """
    n, graph = graph.num_vertices, (with_lengths(graph, positive=True) if weighted else graph).decoded()
    chosen = chosen_sources(graph, sources, k, seed)
    backend = options.get("backend", "auto")
    total = torch.zeros(graph.num_arcs, dtype=torch.float64, device=graph.device)
    with tg.one_torch_thread(backend):
        for group in groups(graph, chosen):
            distance = distances(graph, group, weighted, **options)
            counts, onward = count_shortest_paths(graph, distance, weighted, options)
            tg.primitives.path_counts.add_along_arcs(
                graph, distance, counts, onward, total, weighted=weighted, backend=backend
            )
    if not graph.directed:
        total = total + total.index_select(0, graph.transpose_permutation)
    if n < 2:
        return total
    drawn = n if k is None else k
    return total * (1 / (drawn * (n - 1)) if normalized else n / drawn / (1 if graph.directed else 2))
