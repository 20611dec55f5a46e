"""Breadth-first search: hops from one source or from several at once.

A relaxation with weight 1: depth[v] = min over arcs u -> v of depth[u] + 1. The engine expands the frontier by push
while it is small and by pull while it is large (Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first
search", SC 2012). O(n + m).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths._sources import Source, are_small, is_one, minus_one_where, refuse_ranks, start_at

UNREACHED = torch.iinfo(torch.int32).max


class BFS(tg.Relaxation):
    """Hops from the source: int32 [n], or [n, k] for k sources; -1 where unreached.

    source : a vertex index, or k of them. max_depth : stop after so many hops; None goes as far as there are arcs.

    >>> run = tg.run(tg.algorithms.BFS([0, 3]), tg.generators.path(4))
    >>> run.values
    tensor([[0, 3],
            [1, 2],
            [2, 1],
            [3, 0]], dtype=torch.int32)
    """

    reduce, edge, weight, first = "min", "add", 1, 0
    finishes_each = True

    def __init__(self, source: Source, max_depth: int | None = None):
        if max_depth is not None and max_depth < 0:
            raise tg.errors.ArgumentError(f"max_depth: must not be negative, got {max_depth}")
        self.source, self.rounds = source, max_depth

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        return start_at(graph, self.source, UNREACHED, torch.int32)

    def finish(self, values: Tensor) -> Tensor:
        return minus_one_where(values, UNREACHED)


@tg.primitives.calls.reading_pieces
def bfs(
    graph: tg.Graph,
    source: Source,
    *,
    parents: bool = False,
    max_depth: int | None = None,
    **options: Any,
) -> Tensor | tuple[Tensor, Tensor]:
    """Hops from `source` to every vertex along the arcs.

    Parameters: `source`, a vertex index or k of them; `parents`, return the search tree too; `max_depth`, stop after
    so many hops; `options` go to `tgraph.run` (mode, backend, progress).

    Returns depth, int32 [n] ([n, k] for k sources), -1 where unreached. With `parents` also the parents, int64 of
    the same shape: of the in-neighbours one hop nearer the one of smallest index, the source itself at the source,
    -1 where unreached. Raises ArgumentError for a source that is no vertex.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 0])
    >>> tg.algorithms.bfs(graph, 0)
    tensor([ 0,  1,  1, -1], dtype=torch.int32)
    >>> depth, parent = tg.algorithms.bfs(graph, 3, parents=True)
    >>> parent
    tensor([3, 0, 0, 3])
    """
    depth = tg.run(BFS(source, max_depth), graph, **options).values
    return (depth, search_tree(graph, source, depth)) if parents else depth


def hops_from_each(graph: tg.Graph, sources: Tensor, **options: Any) -> Tensor:
    """Hops from each of k sources to all vertices, int32 [k, n], -1 where unreached. `options` go to `tgraph.run`."""
    refuse_ranks(graph)
    if are_small(graph, sources, options):
        return tg.primitives.multi_source.hops(graph, sources, **options)
    runs = tg.run_each([BFS(source) for source in sources.tolist()], graph, **options)
    return torch.stack([run.values for run in runs])


def search_tree(graph: tg.Graph, source: Source, depth: Tensor) -> Tensor:
    """The parents that go with the depths of a search: the nearest in-neighbour, the smallest of equals."""
    n = graph.num_vertices
    vertex = torch.arange(n, device=graph.device)
    far = torch.iinfo(torch.int64).max
    rank = depth.to(torch.int64) * n + (vertex if depth.dim() == 1 else vertex[:, None])
    nearest = tg.aggregate(graph, rank.masked_fill_(depth < 0, far), "min")
    parent = torch.where((depth > 0) & (nearest < far), nearest % max(n, 1), -1)
    sources = graph.as_vertices(source, "source")
    column = torch.arange(len(sources), device=graph.device)
    parent[sources if is_one(source) else (sources, column)] = sources
    return parent
