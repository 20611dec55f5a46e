"""`advise`: what to change for a graph, or the layers of a model, to be computed faster; measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import torch

from tgraph.core.graph import Graph
from tgraph.tuning.backends import Timer
from tgraph.tuning.findings import ModelAdvice
from tgraph.tuning.layout_advice import DEFAULT_LAYOUTS, SAMPLE, Advice, advise_graph
from tgraph.tuning.order_advice import DEFAULT_ORDERS


@overload
def advise(
    graph: Graph, features: int = 1, *, layouts: Sequence[str] = (), sample: int = SAMPLE, timer: Timer | None = None
) -> Advice: ...


@overload
def advise(
    model: torch.nn.Module,
    graph: Any,
    x: Any = None,
    *others: Any,
    orders: Sequence[str] = DEFAULT_ORDERS,
    layouts: Sequence[str] = DEFAULT_LAYOUTS,
    sample: int = SAMPLE,
    timer: Timer | None = None,
) -> ModelAdvice: ...


def advise(*subject: Any, **options: Any) -> Advice | ModelAdvice:
    """Measure what would make computations on a graph, or a model on a graph, faster. Print the result for tables and a
    recommendation.

    The `subject` is a graph or a model; each has `options` of its own:

    **advise(graph, features=1, *, layouts=(), sample=4_000_000, timer=None)** measures the layouts of a graph: bytes,
    time to build, and time of a sum of `features` columns over all arcs. It returns an `Advice`.

    graph : any tgraph.Graph. Of one with more than `sample` arcs, the subgraph of a few ranges of consecutive vertices
        is measured.
    features : columns of the vertex data.
    layouts : names of the layouts to compare with CSR; all by default.
    timer : a function that takes a function without arguments and returns the seconds that a call of it takes; the
        median of a few calls by default.

    The fastest layout is recommended, or the smallest of those within a tenth of its speed.

    **advise(model, graph, x=None, *others, orders=("degree", "rcm", "community"), layouts=("virtual", "cbm", "sell"),
    sample=4_000_000, timer=None)** measures the layers of a model: the kernel that serves each, its time,
    and what another order of the vertices or layout of the arcs brings. It returns a `ModelAdvice`.

    model : a torch.nn.Module with layers of `tgraph.nn`, or layers on PyTorch Geometric's MessagePassing, as
        `tgraph.nn.accelerate` changes them; for those that keep their messages it says why. The call works on a copy.
    graph : the second argument of the model: a tgraph.Graph, an edge_index [2, E], or a sparse matrix.
    x, others : the model is called as model(x, graph, *others), and each layer is then measured with the arguments it
        received. Without x, each layer is measured with random features of as many columns as it takes; those of the
        first layer require no gradient.
    orders : of the vertices, as `Graph.reorder` names them, to compare with the present one. layouts : of the arcs, as
        `Graph.to_format` names them, to compare with CSR on a sample, as above. () for none.

    In training mode every layer is run forward and backward, in evaluation mode forward alone and without gradients.
    Times are those of the message passing, without the dense parts of a layer. Orders and layouts are timed by a sum of
    as many columns as the widest gather of the layers; orders only where the rows exceed the second-level cache, and
    layouts only where at least one layer sums in them. Neither is measured for bipartite, heterogeneous or streamed
    graphs.

    Raises ArgumentError for no features, an unknown order or layout, a graph that is none, and, without x, for a layer
    that takes the number of columns from its first input.

    >>> print(tg.advise(tg.generators.rmat(6), layouts=["sell"]))
    layout  bytes/edge  fill  build s  sum of 1 ms
    csr           4.66  1.00  ...
    sell         10.15  0.42  ...
    recommended: ...
    """
    if "model" in options or (subject and isinstance(subject[0], torch.nn.Module)):
        from tgraph.tuning.layer_advice import advise_model  # imports PyTorch Geometric, which takes seconds

        return advise_model(*subject, **options)
    return advise_graph(*subject, **options)
