"""Shortest paths between all pairs of a small or dense graph (Floyd, CACM 1962; Warshall, J. ACM 1962):

    distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])     for each vertex k in turn

on a matrix of n * n distances, by blocks of vertices that stay in the cache. O(n^3) whatever the number of arcs, and
weights may be negative; `all_pairs` searches from each vertex, which is faster on sparse graphs, and needs no matrix.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths.bellman_ford import potentials


def floyd_warshall(
    graph: tg.Graph, *, weighted: bool = True, predecessors: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Shortest distances between all pairs of vertices: (distance, predecessor), float64 [n, n] with inf where there is
    no path, and the vertex before the last on a shortest path, int64 [n, n], -1 where there is none and on the
    diagonal.

    `weighted`, over graph.weights, which may be negative; otherwise, and without weights, in hops. Without
    `predecessors` the second is None, at half of the time.
    Raises NegativeCycleError, whose `cycle` holds the vertices, and ArgumentError for a weight that is NaN or -inf, and
    for integer weights whose sums float64 might round.

    >>> graph = tg.Graph.from_edges([0, 1, 0], [1, 2, 2], [1, 2, 5])
    >>> distance, predecessor = tg.algorithms.floyd_warshall(graph)
    >>> distance
    tensor([[0., 1., 3.],
            [inf, 0., 2.],
            [inf, inf, 0.]], dtype=torch.float64)
    """
    graph, n = graph.decoded(), graph.num_vertices
    source, target = graph.to_edge_index()
    length = torch.ones(len(target), dtype=torch.float64, device=graph.device)
    if weighted and graph.weights is not None:
        tg.primitives.weights.check(graph, "signed lengths", "shortest paths")
        tg.primitives.shortest_paths.check_sums(graph, tg.primitives.shortest_paths.EXACT)
        length = graph.weights.detach().to(torch.float64)
    distance = torch.full((n * n,), torch.inf, dtype=torch.float64, device=graph.device)
    distance.scatter_reduce_(0, source * n + target, length, "amin")
    before = None
    if predecessors:
        before = torch.full((n * n,), -1, device=graph.device)
        before[source * n + target] = source
        before = before.view(n, n).fill_diagonal_(-1)
    distance = distance.view(n, n)
    if before is not None:
        before.masked_fill_(distance == torch.inf, -1)
    diagonal = distance.diagonal()
    diagonal.copy_(diagonal.clamp(max=0))  # a self-loop of negative weight is a cycle
    if tg.primitives.all_pairs.shorten(distance, before) >= 0:
        potentials(graph)  # raises it, with the cycle
    return distance, before
