"""Counts of shortest paths, given the distances from their sources, and what flows back along them (Brandes 2001).

An arc u -> v is on a shortest path from a source where distance[v] == distance[u] + its length, compared exactly: in
floats, two paths are of one length where the sums of their lengths, from the source on, are the same float.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.centrality import path_counts as operators
from tgraph.primitives import weights


def count_paths(
    graph: Graph, distance: Tensor, *, weighted: bool = False, even: bool = False, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """(counts, onward), float64 [k, n], for k sources.

    `distance`, integers (negative where unreached) or floats (inf there) [k, n], 0 at one source each, over the
    weights if `weighted`, which are above zero, or in hops. counts[v] is the number of shortest paths to v, parallel
    arcs making one; onward[v] = (1 + dependency[v]) / counts[v], where the dependency is the part of the shortest paths
    to all other vertices that pass through v. With `even`, counts[v] is the number of neighbours before v, and what
    reaches v goes back to them in equal parts, whatever the number of paths (load); where the source is one of them, it
    is the only one. Both are 0 where unreached.
    `backend` names the kernels.

    Raises ArgumentError for distances that do not fit the graph, and weights that are not above zero.

    >>> graph = tg.generators.cycle(4)
    >>> counts, onward = tg.primitives.path_counts.count_paths(graph, tg.algorithms.bfs(graph, 0)[None])
    >>> counts, counts * onward - 1
    (tensor([[1., 1., 2., 1.]], dtype=torch.float64), tensor([[3.0000, 0.5000, 0.0000, 0.5000]], dtype=torch.float64))
    """
    distance = _checked(graph, distance, weighted)
    arcs = graph.decoded()
    return operators.count_paths.with_backend(backend)(arcs, distance, weighted, even)


def add_along_arcs(
    graph: Graph,
    distance: Tensor,
    left: Tensor,
    right: Tensor,
    sums: Tensor,
    *,
    weighted: bool = False,
    backend: str = "auto",
) -> Tensor:
    """Add to sums[a], float64 [m], left[c, u] * right[c, v] for each source c from which the arc a: u -> v is on
    shortest paths; parallel arcs that are share it.

    `distance`, `weighted` and `backend` are those of `count_paths`, `left` and `right` float64 [k, n]; with its results
    for these it is how much of the paths uses each arc. Returns `sums`. Raises ArgumentError for tensors that do not
    fit the graph.

    >>> graph = tg.generators.path(3)
    >>> distance = tg.algorithms.bfs(graph, 0)[None]
    >>> counts, onward = tg.primitives.path_counts.count_paths(graph, distance)
    >>> sums = torch.zeros(graph.num_arcs, dtype=torch.float64)
    >>> tg.primitives.path_counts.add_along_arcs(graph, distance, counts, onward, sums)
    tensor([2., 0., 1., 0.], dtype=torch.float64)
    """
    distance = _checked(graph, distance, weighted)
    for name, values, shape in (("left", left, distance.shape), ("right", right, distance.shape)):
        if values.shape != shape or values.dtype != torch.float64:
            raise ArgumentError(f"{name}: expected float64 {list(shape)}, got {values.dtype} {list(values.shape)}")
    if sums.shape != (graph.num_arcs,) or sums.dtype != torch.float64 or not sums.is_contiguous():
        raise ArgumentError(
            f"sums: expected contiguous float64 [{graph.num_arcs}], got {sums.dtype} {list(sums.shape)}"
        )
    arcs = graph.decoded()
    return operators.add_along_arcs.with_backend(backend)(arcs, distance, weighted, left, right, sums)


def _checked(graph: Graph, distance: Tensor, weighted: bool) -> Tensor:
    graph.ensure_valid()
    if weighted:
        weights.check(graph, "positive lengths", "counts of shortest paths")
    if distance.dim() != 2 or distance.shape[1] != graph.num_vertices:
        raise ArgumentError(f"distance: expected [k, {graph.num_vertices}], got {list(distance.shape)}")
    return distance.to(torch.float64 if distance.is_floating_point() else torch.int64)
