"""Declarations that programs return from their method `followed`, so that their values can follow a graph that
changes. A relaxation needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from tgraph.core.graph import Graph


@dataclass(frozen=True, eq=False)
class Components:
    """The values are the smallest vertex of each weakly connected component, int64 [n].

    >>> tg.algorithms.WCC().followed()
    Components()
    >>> store = tg.dynamic.Store()
    >>> store.insert([0, 2], [1, 3])
    1
    >>> tg.dynamic.follow(tg.algorithms.WCC(), store).values
    tensor([0, 0, 2, 2])
    """


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """The values are x, or follow from it:

        x[v] = alpha * sum over arcs u -> v of weight * x[u] / strength[u] + bias[v]

    alpha : the share passed on. bias : one number for all vertices, or a tensor [n].
    divided : by the strength of u, the sum of the weights of its arcs; a strength of 0 passes nothing on. Without it,
        x[u] itself goes along each arc.
    weighted : by the weights of the graph, which must be finite and not negative; else each arc counts 1.
    scaled : "sum" divides x by its sum, "norm" by its norm (L2), "bias" by the sum of the bias; None by nothing.
    factor : multiplies the scaled x.
    tolerance : the computation ends where an iteration changes the values, or with "norm" x, by at most this (L1);
        `per_vertex`, by this times n.
    max_iterations : the limit of iterations, beyond which NotConvergedError is raised.
    dtype : of the values.

    >>> system = tg.algorithms.Katz(alpha=0.5).followed()
    >>> system.alpha, system.bias, system.divided
    (0.5, 1.0, False)
    """

    alpha: float
    bias: Tensor | float
    divided: bool = True
    weighted: bool = False
    scaled: Literal["sum", "norm", "bias"] | None = None
    factor: float = 1.0
    tolerance: float = 1e-6
    per_vertex: bool = False
    max_iterations: int = 100
    dtype: torch.dtype = torch.float32


@dataclass(frozen=True, eq=False)
class CoreNumbers:
    """The core number of each vertex, int64 [n], as `tgraph.algorithms.core_number`.

    >>> store = tg.dynamic.Store(directed=False)
    >>> store.insert([0, 1, 2, 2], [1, 2, 0, 3])
    1
    >>> tg.dynamic.follow(tg.dynamic.CoreNumbers(), store).values
    tensor([2, 2, 2, 1])
    """


@dataclass(frozen=True, eq=False)
class Triangles:
    """The number of triangles, an int, or with `per_vertex` of the triangles at each vertex, int64 [n], as
    `tgraph.algorithms.triangle_count`.

    >>> store = tg.dynamic.Store(directed=False)
    >>> store.insert([0, 1, 2], [1, 2, 0])
    1
    >>> follow = tg.dynamic.follow(tg.dynamic.Triangles(), store)
    >>> follow.values
    1
    """

    per_vertex: bool = False


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The output of the last of some layers, [n, ...], without gradients; after a batch of changes each layer is
    computed again for the vertices that these reach within its number of hops alone.

    layers : functions layer(graph, x) of one hop: a row of the result depends on the rows of the vertex and of its
        in-neighbours, on the number of arcs between them, and on the in-degrees of both, as of GCN, SAGE, GIN and GAT
        layers in evaluation. They are called for parts of the graph.
    features : of the first layer, a tensor [N, ...], for at least as many vertices as the store comes to have.

    >>> store = tg.dynamic.Store(directed=False)
    >>> store.insert([0, 1, 2], [1, 2, 3])
    1
    >>> mean = lambda graph, x: (x + tg.aggregate(graph, x, "mean")) / 2
    >>> embeddings = tg.dynamic.Embeddings([mean, mean], torch.eye(4))
    >>> follow = tg.dynamic.follow(embeddings, store)
    >>> follow.values[0]
    tensor([0.3750, 0.5000, 0.1250, 0.0000])
    """

    layers: Sequence[Callable[[Graph, Tensor], Tensor]]
    features: Tensor
