"""Graphs of groups of vertices, and of edges."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


def quotient_graph(graph: tg.Graph, labels: Tensor, *, self_loops: bool = True) -> tg.Graph:
    """The graph whose vertices are the groups of vertices of equal label: an edge stands for all those between two
    groups, and its weight is the sum of theirs, their number without weights. Contraction, or a graph of communities.

    labels : integers [n], such as a function of communities gives; ascending, they are the original ids of the result.
    self_loops : whether edges within a group become a self-loop of it.
    Sums of integer weights must fit their dtype. Raises ArgumentError for another number of labels.

    >>> graph = tg.generators.barbell(3, 0)
    >>> tg.algorithms.quotient_graph(graph, torch.tensor([0, 0, 0, 1, 1, 1])).to_pandas()
       source  target  weight
    0       0       0       3
    1       0       1       1
    2       1       1       3
    """
    if not isinstance(labels, Tensor) or labels.shape != (graph.num_vertices,) or labels.is_floating_point():
        got = list(labels.shape) if isinstance(labels, Tensor) else type(labels)
        raise tg.errors.ArgumentError(f"labels: expected one integer per vertex, [{graph.num_vertices}], got {got}")
    ids, group = labels.to(graph.device, torch.int64).unique(return_inverse=True)
    options: dict[str, Any] = {"num_vertices": len(ids), "directed": graph.directed, "multi": "sum"}
    options |= {"self_loops": "keep" if self_loops else "drop", "vertices": ids}

    def merged(arcs: Any) -> tg.Graph:
        once = torch.ones_like(arcs.source, dtype=torch.bool) if graph.directed else arcs.source <= arcs.target
        weights = torch.ones_like(arcs.source) if arcs.weights is None else arcs.weights
        return tg.Graph.from_edges(group[arcs.source[once]], group[arcs.target[once]], weights[once], **options)

    found: list[Any] = list(map(merged, tg.primitives.edges.in_parts(graph)))
    if len(found) > 1:
        ends = [each.to_edge_index() for each in found]
        once = [slice(None) if graph.directed else first <= second for first, second in ends]
        first, second = torch.cat([each[:, kept] for each, kept in zip(ends, once, strict=True)], 1)
        weights = torch.cat([each.weights[kept] for each, kept in zip(found, once, strict=True)])
        found = [tg.Graph.from_edges(first, second, weights, **options)]
    return found[0]


def line_graph(graph: tg.Graph) -> tuple[tg.Graph, Tensor]:
    """Line graph, whose vertices are the edges: the graph, and these edges as pairs of vertices, int64 [e, 2].

    Two edges are neighbours where they share a vertex; an arc leads from u -> v to v -> w. As networkx.line_graph, of
    which edges there are is told by the pairs, in the order of the stored arcs with u <= v where they are undirected.
    Parallel edges are vertices of their own. Costs a step for each pair of edges that share a vertex.

    >>> lines, edges = tg.algorithms.line_graph(tg.generators.path(4))
    >>> edges.tolist(), lines.to_edge_index().tolist()
    ([[0, 1], [1, 2], [2, 3]], [[0, 1, 1, 2], [1, 0, 2, 1]])
    """
    arcs = graph.decoded()
    first, second = arcs.to_edge_index()
    position = torch.arange(arcs.num_arcs, device=graph.device)
    if graph.directed:
        edge, pairs = position, torch.stack((first, second), 1)
    else:
        edge, pairs = _edges(arcs, first, second)
        if not graph.num_self_loops and not graph.num_parallel_edges:
            return tg.primitives.line_graph.of_edges(arcs, edge, pairs), pairs
    count = arcs.out_degree[second]
    arc = position.repeat_interleave(count)
    following = arcs.offset[second[arc]] + torch.arange(len(arc), device=graph.device) - (count.cumsum(0) - count)[arc]
    src, dst = edge[arc], edge[following]
    if not graph.directed:
        src, dst = src[src < dst], dst[src < dst]
    options: dict[str, Any] = {"num_vertices": len(pairs), "directed": graph.directed, "multi": "first"}
    return tg.Graph.from_edges(src, dst, **options), pairs


def _edges(arcs: tg.Graph, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The number of the edge of each arc of an undirected graph, int64 [m], and the ends of each edge u <= v [e, 2]."""
    forward = first <= second
    number = forward.cumsum(0) - 1
    reverse = arcs.transpose_permutation  # arc i is the reverse of arc reverse[i]; parallel ones in their order
    edge = torch.where(forward, number, number[reverse])
    return edge, torch.stack((first[forward], second[forward]), 1)
