"""Eccentricities, and what follows from them: diameter, radius, centre and periphery.

The eccentricity of a vertex is its largest distance to another. Instead of a search from every vertex, few searches
bound the eccentricities of all: where e is that of s,

    max(d(v, s), e - d(s, v)) <= eccentricity of v <= d(v, s) + e

Each search starts at a vertex that may lie farthest out or one near to those before, in turns, until the bounds answer
the question (Takes and Kosters, "Computing the eccentricity distribution of large graphs", 2013), with ties and centres
by the sum of distances (SumSweep; Borassi, Crescenzi, Habib, Kosters, Marino, Takes, "Fast diameter and radius
BFS-based computation in (weakly connected) real-world graphs", 2015).
Exact. O(n m) at worst, and some ten to hundred searches on most networks.

Every vertex must reach every other: an undirected graph connected, a directed one strongly connected.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.distances._bounds import Bounds


def eccentricity(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """The largest distance from each vertex to another, [n], int64, or float64 with floating weights.

    `weighted` takes graph.weights, which must not be negative; otherwise every arc counts 1. Floating values are exact
    but for rounding. `options` go to `tgraph.run` (mode, backend) for the searches.
    Raises ArgumentError for a graph without vertices, where a vertex does not reach another, and for a negative or NaN
    weight.

    >>> tg.algorithms.eccentricity(tg.generators.path(5))
    tensor([4, 3, 2, 3, 4])
    """
    return _wide(_narrowed(graph, weighted, options, lambda found: found.upper > found.lower).of_all()[0])


def diameter(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> float:
    """The largest distance, an int unless weights are floating. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.diameter(tg.generators.grid2d(3, 4))
    5
    """
    return _narrowed(graph, weighted, options, lambda found: found.upper > found.most).most.item()


def radius(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> float:
    """The least eccentricity, an int unless weights are floating. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.radius(tg.generators.path(5))
    2
    """
    return _narrowed(graph, weighted, options, lambda found: found.lower < found.least).least.item()


def center(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """The vertices of least eccentricity, int64 [k] ascending. `weighted`, `options` and errors are those of
    `eccentricity`.

    >>> tg.algorithms.center(tg.generators.path(5))
    tensor([2])
    """

    def may_be_central(found: Bounds) -> Tensor:
        return (found.lower <= found.least) & (found.lower < found.upper)

    found = _narrowed(graph, weighted, options, may_be_central)
    return (found.of_all()[1] == found.least).nonzero().flatten()


def periphery(graph: tg.Graph, *, weighted: bool = False, **options: Any) -> Tensor:
    """The vertices whose eccentricity is the diameter, int64 [k] ascending. `weighted`, `options` and errors are those
    of `eccentricity`.

    >>> tg.algorithms.periphery(tg.generators.path(5))
    tensor([0, 4])
    """

    def may_be_peripheral(found: Bounds) -> Tensor:
        return (found.upper >= found.most) & (found.lower < found.upper)

    found = _narrowed(graph, weighted, options, may_be_peripheral)
    return (found.of_all()[0] == found.most).nonzero().flatten()


def _narrowed(graph: tg.Graph, weighted: bool, options: dict[str, Any], left: Any) -> Bounds:
    return Bounds(graph, weighted, options).narrow(left)


def _wide(values: Tensor) -> Tensor:
    return values if values.is_floating_point() else values.to(torch.int64)
