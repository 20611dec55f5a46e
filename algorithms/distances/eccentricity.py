"""Eccentricities, and what follows from them: diameter, radius, centre and periphery.

The eccentricity of a vertex is its largest distance to another. Instead of a search from every vertex, few searches
bound the eccentricities of all: where e is that of s,

    max(d(v, s), e - d(s, v)) <= eccentricity of v <= d(v, s) + e

Each search starts at a vertex that may lie farthest out or one near to those before, in turns, until the bounds answer
the question (Takes and Kosters, "Computing the eccentricity distribution of large graphs", 2013), with ties and centres
by the sum of distances (SumSweep; Borassi, Crescenzi, Habib, Kosters, Marino, Takes, "Fast diameter and radius
BFS-based computation in (weakly connected) real-world graphs", 2015).
Exact, but for the rounding of floating sums: eccentricities that differ by no more are equal, and the value of all that
are the least, or the largest, is that of a search from the first of them.
O(n m) at worst, and some ten to hundred searches on most networks.

Every vertex must reach every other: an undirected graph connected, a directed one strongly connected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.distances._bounds import Bounds


def eccentricity(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """Eccentricity of every vertex: the largest distance to another, [n], int64, or float64 with floating weights.

    `weighted` takes graph.weights, which must not be negative; otherwise every arc counts 1. Floating values are exact
    but for rounding. `options` go to `tgraph.run` (mode, backend) for the searches.
    Raises ArgumentError for a graph without vertices, where a vertex does not reach another, and for a negative or NaN
    weight.

    >>> tg.algorithms.eccentricity(tg.generators.path(5))
    tensor([4, 3, 2, 3, 4])
    """
    found = _narrowed(graph, weighted, options, Bounds.are_open)
    values = found.of_all()[1]
    if not found.slack:
        return values.to(torch.int64)
    known = torch.tensor([*found.searched], device=graph.device)
    values[known] = torch.stack([*found.searched.values()])
    for equal in (found.peripheral(), found.central()):
        values[equal] = found.eccentricity_of(int(equal[0]))
    return values


def diameter(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> float:
    """Largest distance between two vertices: an int unless weights are floating. `weighted`, `options` and errors are
    those of `eccentricity`.

    >>> tg.algorithms.diameter(tg.generators.grid2d(3, 4))
    5
    """
    if _is_floating(graph, weighted):
        found = _narrowed(graph, weighted, options, _may_be_peripheral)
        return found.eccentricity_of(int(found.peripheral()[0])).item()
    return _narrowed(graph, weighted, options, lambda found: found.upper > found.most).most.item()


def radius(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> float:
    """Least eccentricity: an int unless weights are floating. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.radius(tg.generators.path(5))
    2
    """
    if _is_floating(graph, weighted):
        found = _narrowed(graph, weighted, options, _may_be_central)
        return found.eccentricity_of(int(found.central()[0])).item()
    return _narrowed(graph, weighted, options, lambda found: found.lower < found.least).least.item()


def center(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """Vertices of least eccentricity: int64 [k] ascending. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.center(tg.generators.path(5))
    tensor([2])
    """
    return _narrowed(graph, weighted, options, _may_be_central).central()


def periphery(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """Vertices whose eccentricity is the diameter: int64 [k] ascending. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.periphery(tg.generators.path(5))
    tensor([0, 4])
    """
    return _narrowed(graph, weighted, options, _may_be_peripheral).peripheral()


def _may_be_central(found: Bounds) -> Tensor:
    return found.may_be_central() & found.are_open()


def _may_be_peripheral(found: Bounds) -> Tensor:
    return found.may_be_peripheral() & found.are_open()


def _narrowed(graph: tg.Graph, weighted: bool, options: dict[str, Any], left: Callable[[Bounds], Tensor]) -> Bounds:
    return Bounds(graph, weighted, options).narrow(left)


def _is_floating(graph: tg.Graph, weighted: bool) -> bool:
    return weighted and graph.weight_dtype is not None and graph.weight_dtype.is_floating_point
