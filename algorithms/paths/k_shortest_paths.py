"""The k shortest paths from one vertex to another that pass no vertex twice.

After the shortest one, each next path leaves an earlier one at some vertex, and is the shortest that does so and has
not been found (Yen, "Finding the k shortest loopless paths in a network", 1971). Paths that leave at different vertices
or by different arcs are disjoint sets (Lawler, 1972). A search from the target first gives exact bounds, which lead
those that follow. O(k n (m + n log n)) at worst, and little more than that first search in practice.
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def k_shortest_paths(
    graph: tg.Graph, source: int, target: int, count: int = 3, *, weighted: bool = False, backend: str = "auto"
) -> list[tuple[Tensor, float]]:
    """The `count` shortest simple paths from `source` to `target`: (vertices int64, length) of each, shortest first;
    fewer where there are not so many.

    `weighted` takes graph.weights, which must not be negative; otherwise every arc counts 1. Of parallel arcs the least
    counts, and paths differ by a vertex. Which of equally long paths come first is always the same. `backend`
    names the kernels.
    Raises ArgumentError for a negative or NaN weight, a count below 0, or a vertex that is none.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2, 0], [1, 2, 3, 3, 3], [1, 2, 1, 2, 9])
    >>> [(path.tolist(), length) for path, length in tg.algorithms.k_shortest_paths(graph, 0, 3, 2, weighted=True)]
    [([0, 1, 3], 2), ([0, 2, 3], 4)]
    """
    return tg.primitives.shortest_paths.k_shortest(graph, source, target, count, weighted=weighted, backend=backend)
