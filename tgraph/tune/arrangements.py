"""What another order of the vertices, or another layout of the arcs, would bring to the layers on a graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from tgraph.core.build import check_choice
from tgraph.core.devices import cache_bytes
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, MissingDependencyError
from tgraph.formats import known
from tgraph.formats.reordering import ORDERS, reorder
from tgraph.kernels import layouts as in_layout
from tgraph.kernels import watched
from tgraph.kernels.autograd import pull_push
from tgraph.nn.conv.layer import MessagePassing
from tgraph.tune.call_capture import Arguments, on_another
from tgraph.tune.findings import LayoutAdvice, OrderAdvice
from tgraph.tune.locality import misses
from tgraph.tune.profiler import operations
from tgraph.tune.tuning import median_seconds

Timer = Callable[[Callable[[], object]], float]

# Orders take turns, so that what else the machine does falls on all of them.
TURNS = 3


def measured_orders(
    rows: Graph, columns: int, dtype: torch.dtype, orders: Sequence[str], timer: Timer | None
) -> tuple[list[OrderAdvice], dict[str, str]]:
    """(the present order and the others, {order: why it was not measured}).

    rows : whose arcs lead from who receives to what is read. columns, dtype : of what a vertex holds. timer : as
    `tgraph.advise` takes it.
    """
    timer = timer or (lambda step: median_seconds(step, rows.device))
    found: dict[str, tuple[Graph, float]] = {"": (rows, 0.0)}
    refused = {}
    for order in orders:
        begin = time.perf_counter()
        try:
            graph = reorder(rows, order)
        except MissingDependencyError as missing:
            refused[order] = str(missing)
            continue
        found[order] = graph, time.perf_counter() - begin
    data = torch.ones((rows.num_vertices, columns), dtype=dtype, device=rows.device)
    turns = [[timer(lambda graph=graph: _summed(graph, data)) for graph, _ in found.values()] for _ in range(TURNS)]  # type: ignore[misc]
    row_bytes, capacity = columns * dtype.itemsize, cache_bytes(rows.device)
    advice = [
        OrderAdvice(order, seconds, misses(graph, row_bytes, capacity), 1e3 * min(taken))
        for (order, (graph, seconds)), taken in zip(found.items(), zip(*turns, strict=True), strict=True)
    ]
    return advice, refused


@torch.no_grad()
def _summed(rows: Graph, data: Tensor) -> Tensor:
    pull_push.remember(rows)
    arcs = pull_push.Arcs(rows.offset, rows.neighbors)
    return pull_push.pull(data, None, None, *arcs, "sum", "copy", "auto")


def measured_layouts(
    graph: Graph,
    layers: Mapping[str, tuple[MessagePassing, Arguments]],
    names: Sequence[str],
) -> tuple[list[LayoutAdvice], dict[str, str]]:
    """(the layouts of that name, {layout: why it cannot hold the graph}).

    graph : in CSR, with arcs. layers : {place: (layer, what it is called with on some graph)}; each is called on this
    one, to see whether the layout serves it.
    """
    found, refused = [], {}
    for name in names:
        begin = time.perf_counter()
        try:
            held = graph.to_format(name)
        except ArgumentError as refusal:
            refused[name] = str(refusal)
            continue
        seconds, nbytes = time.perf_counter() - begin, held.layout.nbytes  # type: ignore[union-attr]
        serves = tuple(place for place, called in layers.items() if _serves(held, *called))
        share = operations(held) / graph.num_arcs
        found.append(LayoutAdvice(name, seconds, nbytes / graph.num_arcs, share, serves))
    return found, refused


def check_names(orders: Sequence[str], layouts: Sequence[str]) -> None:
    """Raise ArgumentError for an order or layout that there is not."""
    for order in orders:
        check_choice(order, "orders", tuple(ORDERS))
    for layout in layouts:
        known(layout)


def _serves(held: Graph, layer: MessagePassing, arguments: Arguments) -> bool:
    """Whether a layer sums in the layout of a graph."""
    moved = on_another(arguments, layer, held, (held.num_vertices, held.num_arcs))
    with watched() as choices:
        layer(*moved.args, **moved.kwargs)
    return any(choice.backend is in_layout for choice in choices)
