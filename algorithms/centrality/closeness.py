"""Closeness and harmonic centrality: how near a vertex is to all others.

    closeness[v] = (r - 1) / sum of distance(u, v) over the r vertices u that reach v (Freeman 1979), times
                   (r - 1) / (n - 1) (Wasserman and Faust 1994), which keeps small components from the top
    harmonic[v]  = sum of 1 / distance(u, v) over all other vertices u (Marchiori and Latora 2000)

In hops, the distances from all vertices come from the primitive `multi_source.level_counts`, which searches from up to
512 vertices with one pass over the arcs of a level and counts the vertices of each. Over weights a search is run from
each vertex. O(n (n + m)) in all.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import distances, each_distance, groups, with_lengths

# Vertices that are searched from at once, in hops: whole groups for many threads.
SEARCHED_AT_ONCE = 1 << 12


def closeness(
    graph: tg.Graph,
    vertices: Any = None,
    *,
    weighted: bool = False,
    wf_improved: bool = True,
    **options: Any,
) -> Tensor:
    """Closeness centrality of every vertex, float64 [n], or [k] for k `vertices`: the inverse of the mean distance to
    it.

    `weighted`, distances over the weights instead of hops. `wf_improved`, scale by the share of the vertices that reach
    it, as Wasserman and Faust do; without, the mean is over these alone. A vertex that no other reaches has 0. The
    values are those of networkx: in a directed graph of the distances towards the vertex; pass `graph.transpose()`
    for those from it. `options` go to `tgraph.run` for weighted searches; in hops there is `backend` alone.

    Raises ArgumentError for vertices that are none, and for weights that are negative or missing.

    >>> tg.algorithms.closeness(tg.generators.path(5)).round(decimals=3)
    tensor([0.4000, 0.5710, 0.6670, 0.5710, 0.4000], dtype=torch.float64)
    """
    chosen, graph = _towards(graph, vertices, weighted)
    n, parts = graph.num_vertices, []
    for hops, held in _found(graph, chosen, weighted, options):
        reached = held.sum(-1).to(torch.float64) - 1
        total = (hops * held).sum(-1, dtype=torch.float64)
        share = reached / (n - 1) if wf_improved and n > 1 else 1.0
        parts.append(torch.where(total > 0, reached / torch.where(total > 0, total, 1.0) * share, 0.0).view(-1))
    return torch.cat([_nothing(graph), *parts])


def harmonic(
    graph: tg.Graph, vertices: Any = None, *, sources: Any = None, weighted: bool = False, **options: Any
) -> Tensor:
    """Harmonic centrality of every vertex, float64 [n], or [k] for k `vertices`: the sum of the inverse distances to it
    from all others, or from the `sources` alone, those that do not reach it adding nothing.

    The other parameters are those of `closeness`; as in networkx, vertices at distance 0 add nothing either.

    >>> tg.algorithms.harmonic(tg.generators.path(4)).round(decimals=3)
    tensor([1.8330, 2.5000, 2.5000, 1.8330], dtype=torch.float64)
    """
    if sources is not None:
        near = _near(graph, graph.as_vertices(sources, "sources"), weighted, options)
        return near if vertices is None else near[graph.as_vertices(vertices, "vertices")]
    chosen, graph = _towards(graph, vertices, weighted)
    parts = []
    for hops, held in _found(graph, chosen, weighted, options):
        near = hops.to(torch.float64).reciprocal().masked_fill_(hops == 0, 0)
        parts.append((near * held).sum(-1).view(-1))
    return torch.cat([_nothing(graph), *parts])


def _near(graph: tg.Graph, sources: Tensor, weighted: bool, options: dict[str, Any]) -> Tensor:
    """The sum of the inverse distances from the sources to each vertex, [n]."""
    graph = with_lengths(graph) if weighted else graph
    total = tg.primitives.values.full(graph, 0.0, torch.float64)
    with tg.one_torch_thread(options.get("backend", "auto")):
        for group in groups(graph, sources):
            for distance in each_distance(graph, group, weighted, **options):  # one by one, in the order of the sources
                total += torch.where(distance > 0, distance.to(torch.float64).reciprocal(), 0)
    return total


def _towards(graph: tg.Graph, vertices: Any, weighted: bool) -> tuple[Tensor, tg.Graph]:
    """The vertices asked for, and the graph in which searches from them give the distances towards them."""
    chosen = graph.as_vertices(range(graph.num_vertices) if vertices is None else vertices, "vertices")
    graph = with_lengths(graph) if weighted else graph
    return chosen, graph.decoded().transpose() if graph.directed else graph


def _found(graph: tg.Graph, chosen: Tensor, weighted: bool, options: dict[str, Any]) -> Any:
    """For one group of the vertices after the other: distances, and how many vertices there are at each, [k, d]; on
    ranks, over weights, for one vertex after the other, [n]."""
    with tg.one_torch_thread(options.get("backend", "auto")):
        if weighted:
            for group in groups(graph, chosen):
                spread = graph.storage.is_distributed
                search = each_distance if spread else lambda *where, **how: [distances(*where, **how)]
                for distance in search(graph, group, True, **options):
                    held = (distance >= 0) & (distance != float("inf"))
                    yield distance.masked_fill(~held, 0), held
            return
        for group in tg.progress.track(chosen.split(SEARCHED_AT_ONCE) if len(chosen) else (), "closeness"):
            counts = tg.primitives.multi_source.level_counts(graph, group, **options)
            yield torch.arange(counts.shape[1], device=counts.device), counts


def _nothing(graph: tg.Graph) -> Tensor:
    return torch.zeros(0, dtype=torch.float64, device=graph.device)
