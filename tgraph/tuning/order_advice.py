"""Speed of other orders of the vertices, measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tgraph.core.graph import Graph
from tgraph.errors import MissingDependencyError
from tgraph.formats.reordering import reorder
from tgraph.model.operators import aggregate
from tgraph.tuning.timing import Timer, timer_on

TURNS = 3  # measurements of every order, in turn, so that other processes disturb all of them

DEFAULT_ORDERS = ("degree", "rcm", "community")  # compared for a model by default


@dataclass(frozen=True)
class OrderAdvice:
    """An order of the vertices: its name in `Graph.reorder`, "" for the present order; the seconds to reorder; and the
    milliseconds of a sum over all arcs."""

    order: str
    seconds: float
    milliseconds: float


@torch.no_grad()
def measured_orders(
    graph: Graph, columns: int, dtype: torch.dtype, orders: Sequence[str], timer: Timer | None
) -> tuple[tuple[OrderAdvice, ...], dict[str, str]]:
    """(the present order of a graph in CSR and others, {order: why it was not measured}), by sums of `columns`."""
    timer = timer or timer_on(graph.device)
    found: dict[str, tuple[Graph, float]] = {"": (graph, 0.0)}
    refused = {}
    for order in orders:
        begin = time.perf_counter()
        try:
            found[order] = reorder(graph, order), time.perf_counter() - begin
        except MissingDependencyError as missing:
            refused[order] = str(missing)
    data = torch.ones((graph.num_vertices, columns), dtype=dtype, device=graph.device)
    turns = [
        [timer(lambda held=held: aggregate(held, data, "sum")) for held, _ in found.values()]  # type: ignore[misc]
        for _ in range(TURNS)
    ]
    best = [1e3 * min(taken) for taken in zip(*turns, strict=True)]
    return tuple(
        OrderAdvice(order, seconds, taken) for (order, (_, seconds)), taken in zip(found.items(), best, strict=True)
    ), refused
