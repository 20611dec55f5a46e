"""The line graph of an undirected simple graph."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.structure.line_graph import line_rows
from tgraph.primitives.simple_graph import refuse_directed


def of_edges(graph: Graph, edge: Tensor, ends: Tensor) -> Graph:
    """The graph whose vertices are the edges of this one, neighbours where they share a vertex.

    edge : the number of the edge of each arc, int64 [m], in the order of `ends`, its vertices u < v, int64 [e, 2],
    which ascend. O(size of the result). Raises ArgumentError for directed graphs, self-loops and parallel edges.

    >>> graph = tg.generators.path(3)
    >>> edges = tg.primitives.k_truss.edges(graph)
    >>> tg.primitives.line_graph.of_edges(graph, edges.number, edges.ends.T.long().contiguous()).to_edge_index()
    tensor([[0, 1],
            [1, 0]])
    """
    refuse_directed(graph)
    if graph.num_self_loops or graph.num_parallel_edges:
        raise ArgumentError("graph: it has self-loops or parallel edges; use graph.without_self_loops() and merge them")
    arcs = graph.decoded()
    arcs.ensure_valid()
    rows = line_rows(arcs.offset, edge.to(index_dtype(len(ends))), *ends.unbind(1))
    return Graph(*rows, directed=False)
