"""Mixing: whether arcs join vertices that are alike, in degree or in an attribute (Newman, "Mixing patterns in
networks", Physical Review E 67, 2003), and whether they are answered.

Correlations are over arcs, so that an undirected edge counts in both directions. Each is a few passes over the arcs.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def degree_assortativity(graph: tg.Graph, x: str = "out", y: str = "in", *, weighted: bool = False) -> float:
    """Correlation of the degrees at both ends of the edges: as networkx.degree_assortativity_coefficient.

    x, y : for directed graphs, whether the "in" or "out" degree counts at the source and at the target. weighted : add
    the weights of the arcs at a vertex instead of their number. A self-loop adds two to an undirected degree. NaN where
    all ends have equal degrees. Raises ArgumentError for weights that are not finite.

    >>> round(tg.algorithms.degree_assortativity(tg.generators.star(4)), 3)
    -1.0
    """
    _direction(y, "y")
    if weighted:
        tg.primitives.weights.check(graph, "numbers", "correlations")
    first = _degree(graph, x, weighted)
    second = _degree(graph, y, weighted) if graph.directed else first
    return tg.primitives.correlation.over_arcs(graph, first, second)


def numeric_assortativity(graph: tg.Graph, values: Tensor) -> float:
    """The correlation of a number [n] at both ends of the arcs, as networkx.numeric_assortativity_coefficient.

    `values` are finite numbers [n]. NaN where all are equal.

    >>> age = torch.tensor([20, 21, 22, 60, 61, 62])
    >>> round(tg.algorithms.numeric_assortativity(tg.generators.barbell(3, 0), age), 3)
    0.737
    """
    values = _checked(graph, values, "values").to(graph.device, torch.float64)
    tg.primitives.weights.check_numbers("values", values, "numbers")
    return tg.primitives.correlation.over_arcs(graph, values, values)


def attribute_assortativity(graph: tg.Graph, labels: Tensor) -> float:
    """How far arcs join vertices of equal label: 1 where all do, 0 where as many do as by chance, as
    networkx.attribute_assortativity_coefficient.

    `labels` are integers [n]. NaN where all arcs join one label.

    >>> graph = tg.generators.barbell(3, 0)
    >>> round(tg.algorithms.attribute_assortativity(graph, torch.tensor([0, 0, 0, 1, 1, 1])), 3)
    0.714
    """
    label = _checked(graph, labels, "labels").to(graph.device)
    least, largest = (int(each) for each in label.aminmax()) if len(label) else (0, 0)
    if label.dtype != torch.int64 or least < 0 or largest >= graph.num_vertices:
        label = label.unique(return_inverse=True)[1]
    m = max(graph.num_arcs, 1)
    twice = 0 if graph.directed else graph.num_self_loops
    within = (float(tg.primitives.communities.inside(graph, label).sum()) - twice) / m
    leaving, reaching = (torch.bincount(label, degree.double()) / m for degree in (graph.out_degree, graph.in_degree))
    chance = float((leaving * reaching).sum())
    return (within - chance) / (1 - chance) if chance != 1 and graph.num_arcs else float("nan")


def average_neighbor_degree(
    graph: tg.Graph, source: str = "out", target: str = "out", *, weighted: bool = False
) -> Tensor:
    """Average degree of the neighbours of every vertex: float64 [n], 0 without neighbours, as
    networkx.average_neighbor_degree.

    source : for directed graphs, whether the "in" or "out" neighbours of a vertex count. target : which degree of
        these.
    weighted : neighbours count by the weights of the arcs, which may be negative; 0 where these sum to 0. A self-loop
        adds two to an undirected degree.
    Raises ArgumentError for weights that are not finite.

    >>> tg.algorithms.average_neighbor_degree(tg.generators.path(4))
    tensor([2.0000, 1.5000, 1.5000, 2.0000], dtype=torch.float64)
    """
    towards = graph.transpose() if _direction(source, "source") == "in" else graph
    edge = "mul" if weighted else "copy"
    if weighted:
        tg.primitives.weights.check(graph, "numbers", "means over neighbours")
    total = tg.multiply(towards, _degree(graph, target, False), "sum", edge)
    size = _degree(graph, source, weighted)
    return torch.where(size != 0, total / size, 0)


def reciprocity(graph: tg.Graph, *, per_vertex: bool = False) -> float | Tensor:
    """Fraction of arcs whose reverse is an arc: as networkx.overall_reciprocity; with `per_vertex` of those at each
    vertex, float64 [n], as networkx.reciprocity, NaN at a vertex without arcs.

    Parallel arcs count once, and self-loops not at all. NaN without arcs, and 1 for undirected graphs.

    >>> tg.algorithms.reciprocity(tg.Graph.from_edges([0, 1, 1], [1, 0, 2]))
    0.6666666666666666
    """
    mutual, leaving = tg.primitives.mutual.counts(graph)
    if not per_vertex:
        total = int(leaving.sum())
        return int(mutual.sum()) / total if total else float("nan")
    reaching = tg.primitives.mutual.counts(graph.transpose())[1] if graph.directed else leaving
    return 2 * mutual.to(torch.float64) / (leaving + reaching)


def _direction(name: str, option: str) -> str:
    if name not in ("in", "out"):
        raise tg.errors.ArgumentError(f"{option}: {name!r} is not 'in' or 'out'")
    return name


def _degree(graph: tg.Graph, direction: str, weighted: bool) -> Tensor:
    """The degree of each vertex in a direction, float64 [n]; undirected self-loops count twice."""
    matrix = graph.transpose() if _direction(direction, "direction") == "in" else graph
    ones = torch.ones(graph.num_vertices, dtype=torch.float64, device=graph.device)
    if weighted:
        degree = tg.multiply(matrix, ones)
    else:
        degree = matrix.out_degree.to(torch.float64)
    if graph.directed or not graph.num_self_loops:
        return degree
    if not weighted:
        return 2 * degree - graph.without_self_loops().out_degree
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    return degree + tg.aggregate(graph, vertex, edge=lambda u, v, weight: torch.where(u == v, weight.double(), 0))


def _checked(graph: tg.Graph, values: Tensor, name: str) -> Tensor:
    if not isinstance(values, Tensor) or values.shape != (graph.num_vertices,):
        got = list(values.shape) if isinstance(values, Tensor) else type(values)
        raise tg.errors.ArgumentError(f"{name}: expected one per vertex, a tensor [{graph.num_vertices}], got {got}")
    return values
