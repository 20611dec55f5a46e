"""All shortest paths from a source at once: the arcs that lie on them.

An arc u -> v lies on a shortest path where distance[u] + weight = distance[v]. The graph of these arcs has every
shortest path, and no other, where weights are positive; it then has no cycle. O(m) after the search.
"""

from __future__ import annotations

from typing import Any

import torch

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
    graph = graph.decoded()
    before, after = graph.to_edge_index()
    start, end = distance[before], distance[after]
    weights = graph.weights if weighted else None
    step = torch.ones_like(start) if weights is None else weights.to(distance.dtype)
    tight = (start >= 0) & (end != torch.inf) & (start + step == end)
    kept = None if weights is None else weights[tight]
    columns = graph.arc_columns.take(tight.nonzero()[:, 0])
    found = tg.Graph.from_edges(
        after[tight], before[tight], kept, num_vertices=graph.num_vertices, vertices=graph.vertices, columns=columns
    )
    return found.with_columns(vertices=graph.vertex_columns)
