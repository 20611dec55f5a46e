"""A shortest path from one vertex to another.

Without weights by breadth-first search from both ends, level by level, until the two meet; with weights by Dijkstra's
algorithm from both ends, until the two least distances together reach the best length seen (Pohl, "Bi-directional
search", 1971). Where lower bounds of the distances to the target are known, as straight lines on a map are, A* goes by
distance + bound (Hart, Nilsson, Raphael, "A formal basis for the heuristic determination of minimum cost paths", 1968).
A query costs what it reaches, no part of it O(n) but for the bounds.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

import tgraph as tg


def shortest_path(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = False, backend: str = "auto"
) -> Tensor:
    """Shortest path from `source` to `target`: its vertices, both included, int64 [k]; empty where there is none.

    `weighted` takes graph.weights, which must not be negative; otherwise every arc counts 1. Of several shortest paths
    it is always the same. `backend` names the kernels. The first query on a directed graph makes its transpose, which
    is kept.
    Raises ArgumentError for a source or target that is no vertex, and for a negative or NaN weight.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.algorithms.shortest_path(graph, 0, 2), tg.algorithms.shortest_path(graph, 0, 2, weighted=True)
    (tensor([0, 2]), tensor([0, 1, 2]))
    """
    if weighted:
        return tg.primitives.shortest_paths.shortest_path(graph, source, target, backend=backend)[0]
    return tg.primitives.shortest_paths.fewest_hops(graph, source, target, backend=backend)


def shortest_path_length(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = False, backend: str = "auto"
) -> float:
    """The length of a shortest path from `source` to `target`: its arcs, or the sum of their weights if `weighted`;
    an int unless weights are floating, and inf where there is no path. `backend` and errors are
    those of `shortest_path`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.algorithms.shortest_path_length(graph, 0, 2), tg.algorithms.shortest_path_length(graph, 0, 2, weighted=True)
    (1, 3.0)
    """
    if weighted:
        return tg.primitives.shortest_paths.shortest_path(graph, source, target, backend=backend)[1]
    return tg.primitives.shortest_paths.hops(graph, source, target, backend=backend)


def astar_path(
    graph: tg.Graph,
    source: int,
    target: int,
    heuristic: Tensor | Callable[[Tensor], Tensor],
    *,
    weighted: bool = True,
    backend: str = "auto",
) -> Tensor:
    """The vertices of a shortest path from `source` to `target`, int64 [k], found with lower bounds.

    `heuristic` has for each vertex a number that is at most its distance to the target, [n], or is a function of a
    tensor of vertex indices that returns these. The nearer to the distances, the fewer vertices are looked at; larger
    ones may give a longer path. `weighted`, `backend` and errors are those of `shortest_path`.

    >>> grid = tg.generators.grid2d(3, 3)
    >>> def steps(vertex):
    ...     return (2 - vertex // 3) + (2 - vertex % 3)
    >>> tg.algorithms.astar_path(grid, 0, 8, steps).numel()
    5
    """
    bound = heuristic if isinstance(heuristic, Tensor) else heuristic(graph.everything().ids)
    graph = graph if weighted else _without_weights(graph)
    return tg.primitives.shortest_paths.shortest_path(graph, source, target, bound=bound, backend=backend)[0]


def _without_weights(graph: tg.Graph) -> tg.Graph:
    graph = graph.decoded()
    return tg.Graph(graph.offset, graph.neighbors, vertices=graph.vertices, directed=graph.directed)
