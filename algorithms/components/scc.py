"""Strongly connected components of a directed graph: sets of vertices each of which reaches all others.

Contracted to a vertex each they leave a graph without cycles, the condensation; those that no arc leaves, its sinks,
are the attracting components, in one of which every random walk ends. Depth-first search (Tarjan, "Depth-first search
and linear graph algorithms", 1972) after two searches from a hub on all threads where these pay. O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def scc(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Strongly connected components: for each vertex the smallest vertex of its component, int64 [n].

    In an undirected graph these are the connected components.
    `backend` names the kernels.

    >>> tg.algorithms.scc(tg.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 3]))
    tensor([0, 0, 2, 3])
    """
    return tg.primitives.components.label_strong(graph, backend=backend) if graph.directed else tg.algorithms.wcc(graph)


def condensation(graph: tg.Graph, *, backend: str = "auto") -> tuple[tg.Graph, Tensor]:
    """Graph of the strongly connected components: (dag, component), a directed graph without cycles, and the vertex of
    it that each vertex is in, int64 [n].

    Components are numbered in ascending order of their smallest vertices. An arc leads from one to another where some
    arc does, once, without weights. The ids of the graph's vertices are not kept.
    Raises ArgumentError for an undirected graph.
    `backend` names the kernels.

    >>> dag, component = tg.algorithms.condensation(tg.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 3]))
    >>> component, dag.to_edge_index()
    (tensor([0, 0, 1, 2]), tensor([[0, 1],
            [1, 2]]))
    """
    tg.primitives.topological.check_directed(graph)
    component, first = tg.primitives.communities.number(scc(graph, backend=backend))
    ends = component.index_select(0, graph.to_edge_index().flatten()).view(2, -1)
    crossing = ends[0] != ends[1]
    dag = tg.Graph.from_edges(*ends[:, crossing], num_vertices=len(first), multi="first")
    return dag, component


def attracting_components(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Strongly connected components that no arc leaves: for each of their vertices the smallest one of its component,
    for others -1, int64 [n]. Raises ArgumentError for an undirected graph. `backend` names the kernels.

    >>> tg.algorithms.attracting_components(tg.Graph.from_edges([0, 1, 2], [1, 2, 1]))
    tensor([-1,  1,  1])
    """
    tg.primitives.topological.check_directed(graph)
    label = scc(graph, backend=backend)
    reverse, degree = graph.transpose(), graph.out_degree
    least, largest = (tg.aggregate(reverse, label, reduce) for reduce in ("min", "max"))
    leaves = (degree > 0) & ((least != label) | (largest != label))
    left = torch.zeros_like(leaves)
    left[label[leaves]] = True
    return torch.where(left.index_select(0, label), -1, label)
