"""`advise`: measured recommendations for faster computations on a graph, or layers of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import torch

from tgraph.core.graph import Graph
from tgraph.tuning.findings import ModelAdvice
from tgraph.tuning.layout_advice import DEFAULT_LAYOUTS, SAMPLE, Advice, advise_graph
from tgraph.tuning.order_advice import DEFAULT_ORDERS
from tgraph.tuning.timing import Timer


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
    """Measure alternatives for a graph, or a model on a graph. The result prints as tables and a recommendation.

    The `subject` is a graph or a model; each has `options` of its own:

    **advise(graph, features=1, *, layouts=(), sample=4_000_000, timer=None)** measures the layouts of a graph: bytes,
    time to build, and time of a sum of `features` columns over all arcs. It returns an `Advice`.

    graph : any tgraph.Graph. Of a graph with more than `sample` arcs, the subgraph of a few ranges of consecutive
        vertices is measured.
    features : columns of the vertex data.
    layouts : names of the layouts to compare with CSR; all by default.
    timer : a function that returns the seconds of a call of its argument, by default the median of a few.

    The fastest layout is recommended, or the smallest within a tenth of its speed.

    **advise(model, graph, x=None, *others, orders=("degree", "rcm", "community"), layouts=("virtual", "cbm", "sell"),
    sample=4_000_000, timer=None)** measures the layers of a model: the kernel of each and its time, and the gain by
    other orders of the vertices or layouts of the arcs. It returns a `ModelAdvice`.

    model : a torch.nn.Module with layers of `tgraph.nn`, or layers on PyTorch Geometric's MessagePassing, changed as by
        `tgraph.nn.accelerate`, on a copy; with the reasons for layers left unchanged.
    graph : the second argument of the model: a tgraph.Graph, an edge_index [2, E], or a sparse matrix.
    x, others : the model is called as model(x, graph, *others), and each layer is then measured with its arguments.
        Without x, each layer is measured with random features of its number of columns, without a gradient for the
        first layer.
    orders : of the vertices, by the names of `Graph.reorder`, to compare with the present one. layouts : of the arcs,
        by the names of `Graph.to_format`, to compare with CSR on a sample, as above. () for none.

    In training mode every layer is run forward and backward, in evaluation mode forward alone and without gradients.
    Times are those of the message passing, without the dense parts of a layer. Orders and layouts are timed by a sum of
    as many columns as the widest gather of the layers; orders only where the rows exceed the second-level cache, and
    layouts only where a layer sums in them. Neither is measured for bipartite, heterogeneous or streamed graphs.

    Raises ArgumentError for no features, an unknown order or layout, anything but a graph, and, without x, for a lazy
    layer, whose number of columns is unknown.

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
