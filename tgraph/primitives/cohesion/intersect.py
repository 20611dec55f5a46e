"""Neighbour intersection: the common neighbours of adjacent vertices, and so triangles."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.operators.cohesion import intersect as operators
from tgraph.primitives.simple_graph import merged


def triangles(graph: Graph, *, per_vertex: bool = False, backend: str = "auto") -> Tensor:
    """The number of triangles, int64 [], or with `per_vertex` of those that each vertex is in, int64 [n].

    Edges have no direction here: a directed graph counts as its undirected one. Parallel edges count once,
    self-loops not at all. `backend` names the kernels. Costs O(m^1.5) at most, and memory for a copy of the arcs
    where these are renumbered by degree.

    >>> tg.primitives.intersect.triangles(tg.generators.wheel(5), per_vertex=True)
    tensor([4, 2, 2, 2, 2])
    """
    undirected = graph.to_undirected() if graph.directed else graph.decoded()
    return operators.count_triangles.with_backend(backend)(undirected, per_vertex)


def arcs_among_neighbors(graph: Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the arcs that lead from one of its neighbours to another, int64 [n].

    Neighbours are those by an arc either way. An undirected edge is an arc both ways. Parallel arcs count once,
    self-loops not at all. `backend` names the kernels.

    >>> tg.primitives.intersect.arcs_among_neighbors(tg.generators.wheel(5))
    tensor([8, 4, 4, 4, 4])
    """
    if not graph.directed:
        return 2 * triangles(graph, per_vertex=True, backend=backend)
    both_ways = merged(graph).to_undirected(multi="keep")  # an edge twice where its arc has a reverse
    return operators.count_arcs_among.with_backend(backend)(both_ways)
