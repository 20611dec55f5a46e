"""Size and speed of each layout of the arcs, measured on a graph or a sample of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.building.inputs import as_count
from tgraph.core.graph import Graph
from tgraph.core.system.text import table
from tgraph.errors import ArgumentError
from tgraph.formats import LAYOUTS, known
from tgraph.markup.labels import preformatted
from tgraph.model.operators import aggregate
from tgraph.progress import track
from tgraph.tuning.timing import Timer, timer_on

SAMPLE, RANGES = 4_000_000, 4  # the largest number of arcs, and ranges of consecutive vertices in a sample
LEVEL = 1.1  # slower than the fastest by at most this factor, the smallest layout is recommended

DEFAULT_LAYOUTS = ("virtual", "cbm", "sell")  # compared for a model by default


@dataclass(frozen=True)
class Measured:
    """A layout of the graph, or of a sample.

    layout : its name. bytes_per_edge : all bytes stored, per arc. fill : arcs over stored entries, below 1 for padded
    rows. build_seconds : from CSR. milliseconds : of a sum over all arcs.
    """

    layout: str
    bytes_per_edge: float
    fill: float
    build_seconds: float
    milliseconds: float


@dataclass(frozen=True)
class Advice:
    """The result of `advise` for a graph; str() gives a table and the recommendation.

    measured : the layouts, CSR first. refused : {layout: why it was not measured}. recommended : the name of a
    measured layout. why : the reason, in a sentence. arcs : number of measured arcs. features : columns of the sum.

    >>> advice = tg.advise(tg.generators.rmat(6), layouts=["sell"])
    >>> [(measured.layout, round(measured.fill, 2)) for measured in advice.measured]
    [('csr', 1.0), ('sell', 0.42)]
    """

    measured: tuple[Measured, ...]
    refused: dict[str, str]
    recommended: str
    why: str
    arcs: int
    features: int

    def __str__(self) -> str:
        heading = ("layout", "bytes/edge", "fill", "build s", f"sum of {self.features} ms")
        rows = [heading] + [
            (m.layout, f"{m.bytes_per_edge:.2f}", f"{m.fill:.2f}", f"{m.build_seconds:.3f}", f"{m.milliseconds:.3g}")
            for m in self.measured
        ]
        refused = (f"{name}: not measured, {reason}" for name, reason in self.refused.items())
        return "\n".join([table(rows, left=(0,)), *refused, f"recommended: {self.recommended}, {self.why}"])

    def _repr_html_(self) -> str:
        return preformatted(self)


def advise_graph(
    graph: Graph, features: int = 1, *, layouts: Sequence[str] = (), sample: int = SAMPLE, timer: Timer | None = None
) -> Advice:
    """`tgraph.advise` of a graph."""
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph or a torch.nn.Module, got {type(graph).__name__}")
    if as_count(features, "features") < 1:
        raise ArgumentError(f"features: expected at least one, got {features}")
    names = tuple(layouts) or tuple(LAYOUTS)
    for name in names:
        known(name)
    return measured_layouts(sampled(graph.to_csr(), sample), features, torch.float32, names, timer)


def measured_layouts(
    graph: Graph,
    features: int,
    dtype: torch.dtype,
    layouts: Sequence[str],
    timer: Timer | None,
    obstacle: Callable[[Graph], str | None] = lambda held: None,
) -> Advice:
    """The advice on a graph in CSR, from sums of `features` columns.

    obstacle : returns the reason not to measure the graph in a layout, or None.
    """
    timer = timer or timer_on(graph.device)
    data = torch.ones((graph.num_vertices, features), dtype=dtype, device=graph.device)
    measured, refused = [_measured(graph, "csr", 0.0, data, timer)], {}
    for name in track(layouts, "layouts"):
        if name == "csr":
            continue
        begin = time.perf_counter()
        try:
            held = graph.to_format(name)
        except ArgumentError as refusal:
            refused[name] = str(refusal)
            continue
        seconds = time.perf_counter() - begin
        if (reason := obstacle(held)) is not None:
            refused[name] = reason
        else:
            measured.append(_measured(held, name, seconds, data, timer))
    best, why = _recommended(measured) if graph.num_arcs else (measured[0], "there is no arc to measure")
    return Advice(tuple(measured), refused, best.layout, why, graph.num_arcs, features)


def sampled(graph: Graph, arcs: int) -> Graph:
    """The graph, or if it has more than `arcs` arcs, the subgraph of a few ranges of consecutive vertices with about
    that many. Ranges, because layouts exploit the similarity of neighbouring rows."""
    if graph.num_arcs <= arcs:
        return graph
    size = max(1, int(graph.num_vertices * arcs / graph.num_arcs) // RANGES)
    starts = [(graph.num_vertices - size) * number // (RANGES - 1) for number in range(RANGES)]
    return graph.subgraph(torch.cat([torch.arange(start, start + size) for start in starts]).unique())


def _measured(graph: Graph, name: str, seconds: float, data: Tensor, timer: Timer) -> Measured:
    stored = graph.nbytes - (0 if graph.vertices is None else graph.vertices.nbytes)
    fill = getattr(graph.storage, "fill", 1.0)
    with torch.no_grad():
        taken = timer(lambda: aggregate(graph, data, "sum"))
    return Measured(name, stored / max(graph.num_arcs, 1), fill, seconds, 1000 * taken)


def _recommended(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """The smallest layout about as fast as the fastest; CSR if it is as good, since every kernel supports it."""
    plain = measured[0]
    fastest = min(m.milliseconds for m in measured)
    level = [m for m in measured if m.milliseconds <= LEVEL * fastest]
    best = min(level, key=lambda m: m.bytes_per_edge)
    if best is plain or (plain in level and best.bytes_per_edge > 0.9 * plain.bytes_per_edge):
        return plain, "no other is clearly faster or smaller, and every kernel reads it"
    speed, size = plain.milliseconds / best.milliseconds, plain.bytes_per_edge / best.bytes_per_edge
    why = f"{speed:.2f} times as fast as csr at 1/{size:.2f} of its bytes"
    saved = (plain.milliseconds - best.milliseconds) / 1000
    return best, why if saved <= 0 else f"{why}; sums that pay its build back: {math.ceil(best.build_seconds / saved)}"
