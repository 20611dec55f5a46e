"""All shortest paths from a source at once: the arcs that lie on them.

An arc u -> v lies on a shortest path where distance[u] + weight = distance[v]. The graph of these arcs has every
shortest path, and no other, where weights are positive; it then has no cycle. O(m) after the search.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths.bfs import bfs
from tgraph.algorithms.paths.sssp import sssp


def predecessors(graph: tg.Graph, source: int, *, weighted: bool = False, **options: Any) -> tg.Graph:
    """Arcs on shortest paths from `source`, reversed: row v holds the vertices before v on them.

    A directed graph on the same vertices, with the weights of those arcs if `weighted`; parallel arcs are kept. The
    rows of the source and of vertices out of reach are empty, but where arcs of weight 0 lead back to the source.
    `weighted` takes graph.weights; otherwise every arc counts 1. `options` go to `tgraph.run`.
    Raises ArgumentError for a negative or NaN weight, or a source that is no vertex.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> tg.algorithms.predecessors(graph, 0).to_edge_index()
    tensor([[1, 2, 3, 3],
            [0, 0, 1, 2]])
    """
    distance = (sssp if weighted else bfs)(graph, source, **options)
    assert isinstance(distance, torch.Tensor)
    found: list[tuple[Tensor, ...]] = []
    for before, after, weights, first, _ in tg.primitives.edges.in_parts(graph):
        start, end = distance[before], distance[after]
        step = weights.to(distance.dtype) if weighted and weights is not None else torch.ones_like(start)
        tight = ((start >= 0) & (end != torch.inf) & (start + step == end)).nonzero()[:, 0]
        each = () if not weighted or weights is None else (weights[tight],)
        found.append((before[tight], after[tight].long(), tight + first, *each))
    before, after, place, *kept = (torch.cat(each) for each in zip(*found, strict=True))
    columns = graph.arc_columns.take(place)
    reversed_ = tg.Graph.from_edges(
        after, before, *kept, num_vertices=graph.num_vertices, vertices=graph.vertices, columns=columns
    )
    return reversed_.with_columns(vertices=graph.vertex_columns)
