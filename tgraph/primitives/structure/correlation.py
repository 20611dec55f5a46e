"""The correlation over the arcs of a number at their sources and one at their targets."""

from __future__ import annotations

import math

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.storage import Layout
from tgraph.kernels.operators.structure.correlation import correlate_ends


def over_arcs(graph: Graph, first: Tensor, second: Tensor) -> float:
    """The correlation of `first` at the source and `second` at the target of each arc, float64 [n] both; NaN where all
    ends have the same, and without arcs. O(n + m).

    >>> degree = tg.generators.star(4).out_degree.double()
    >>> round(tg.primitives.correlation.over_arcs(tg.generators.star(4), degree, degree), 3)
    -1.0
    """
    if not graph.num_arcs:
        return math.nan
    is_symmetric = second is first and not graph.directed
    first, second = _of_moderate_size(first), _of_moderate_size(second)
    if graph.layout is not None and not graph.layout.is_distributed:
        both, *spread = _in_layout(graph, graph.layout, first, second)
    else:
        both, *spread = correlate_ends(graph.decoded(), first, second, is_symmetric)
    return both / math.sqrt(spread[0]) / math.sqrt(spread[1]) if min(spread) > 0 else math.nan


def _in_layout(graph: Graph, layout: Layout, first: Tensor, second: Tensor) -> tuple[float, float, float]:
    """As `correlate_ends`: the second is summed over the rows by the layout."""
    out, into = graph.out_degree.to(first.dtype), graph.in_degree.to(first.dtype)
    first, second = first - out @ first / graph.num_arcs, second - into @ second / graph.num_arcs
    both = first @ layout.pull(second[:, None], "sum")[:, 0]
    return float(both), float(out @ first.square()), float(into @ second.square())


def _of_moderate_size(values: Tensor) -> Tensor:
    """The values, or where squares of them would be 0 or inf, multiples of them, which correlate alike."""
    largest = float(values.abs().max())
    return values if 1e-100 < largest < 1e100 or largest == 0 else values / largest
