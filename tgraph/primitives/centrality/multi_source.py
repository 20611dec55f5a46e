"""Searches from many sources at once, for what is asked of all vertices: closeness, eccentricity, mean distances."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.operators.centrality import multi_source as operators
from tgraph.primitives.paths.shortest_paths import bucket_width, check_sums, check_weights


def level_counts(graph: Graph, sources: Any, *, backend: str = "auto") -> Tensor:
    """How many vertices lie at each distance from each source, in hops along the arcs: int64 [k, L].

    `sources` are k vertex indices, repeated ones too; L is one more than the largest distance from any of them. Level 0
    of a source counts itself. Pass `graph.transpose()` for distances to the sources. `backend` names the kernels. The
    compiled ones search from up to 512 sources with one pass over the arcs of a level, in 192 bytes for each vertex
    and thread, so that vertices near each other are best searched from together.

    Raises ArgumentError for a source that is no vertex.

    >>> tg.primitives.multi_source.level_counts(tg.generators.path(4), [0, 1])
    tensor([[1, 1, 1, 1],
            [1, 2, 1, 0]])
    """
    graph = graph.decoded()
    chosen = graph.as_vertices(sources, "sources")
    return operators.count_levels.with_backend(backend)(graph, chosen)


def hops(graph: Graph, sources: Any, *, backend: str = "auto") -> Tensor:
    """The distance of each vertex from each source, in hops along the arcs: int32 [k, n], -1 where out of reach.

    `sources` and `backend` are those of `level_counts`; up to 64 sources are searched from at once. For graphs whose
    distances from 64 sources fit the cache, where a search from one takes less than its preparation.

    Raises ArgumentError for a source that is no vertex.

    >>> tg.primitives.multi_source.hops(tg.generators.path(4), [0, 1])
    tensor([[0, 1, 2, 3],
            [1, 0, 1, 2]], dtype=torch.int32)
    """
    graph = graph.decoded()
    chosen = graph.as_vertices(sources, "sources")
    return operators.count_hops.with_backend(backend)(graph, chosen)


def lengths(graph: Graph, sources: Any, *, backend: str = "auto") -> Tensor:
    """The distance of each vertex from each source over the weights, [k, n]: floating with inf where out of reach, or
    int64 with -1 where weights are integers or missing.

    `sources` and `backend` are those of `level_counts`. For graphs that fit the cache, as `hops`: each search is by one
    thread. Raises ArgumentError for a source that is no vertex, a negative or NaN weight, and integer weights whose
    sums int64 might not hold.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.primitives.multi_source.lengths(graph, [0, 1])
    tensor([[0., 1., 3.],
            [inf, 0., 2.]], dtype=torch.float64)
    """
    graph = graph.decoded()
    chosen = graph.as_vertices(sources, "sources")
    check_weights(graph)
    check_sums(graph)
    weights = graph.weights
    if weights is None:
        weights = torch.ones(graph.num_arcs, dtype=torch.int64, device=graph.device)
    dtype = torch.promote_types(weights.dtype, torch.float32) if weights.is_floating_point() else torch.int64
    width = bucket_width(graph) / 2 if graph.num_arcs else 1.0
    if not dtype.is_floating_point:
        width = max(1, round(width))
    return operators.lengths.with_backend(backend)(graph, chosen, weights.detach().to(dtype), width or 1.0)
