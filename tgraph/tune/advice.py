"""`advise`: what each layout would cost and gain, measured on the user's own graph."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.build import as_count
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats import LAYOUTS, FormattedGraph, known
from tgraph.model.operators import aggregate
from tgraph.tune.tuning import median_seconds

# Arcs that are measured, at most; of a larger graph as many blocks of neighbouring vertices hold about so many.
SAMPLE, BLOCKS = 4_000_000, 4

# Layouts that are no faster than this fraction of the fastest are passed over, and among the others the smallest wins.
LEVEL = 1.1


@dataclass(frozen=True)
class Measured:
    """A layout on the graph, or on the sample of it.

    layout : its name. bytes_per_edge : of all that it stores, over the arcs. fill : arcs over stored entries, below 1
    where rows are padded. build_seconds : from the CSR. milliseconds : of a float32 sum over all arcs.
    """

    layout: str
    bytes_per_edge: float
    fill: float
    build_seconds: float
    milliseconds: float


@dataclass(frozen=True)
class Advice:
    """What `advise` found; as text a table and the recommendation.

    measured : the layouts, CSR first. refused : {layout: why it cannot hold the graph}. recommended : the name of one
    of those measured. why : the reason, in a sentence. arcs : how many were measured. features : columns of the sum.
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
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        line = "  ".join([f"{{:<{widths[0]}}}", *(f"{{:>{width}}}" for width in widths[1:])])
        lines = [line.format(*row) for row in rows]
        lines += [f"{name}: not measured, {reason}" for name, reason in self.refused.items()]
        return "\n".join([*lines, f"recommended: {self.recommended}, {self.why}"])


def advise(
    graph: Graph,
    features: int = 1,
    *,
    layouts: Sequence[str] = (),
    sample: int = SAMPLE,
    timer: Callable[[Callable[[], object]], float] | None = None,
) -> Advice:
    """Measure which layouts suit a graph: bytes, time to build, and time of a sum of `features` columns over all arcs.

    graph : any graph; where it has more than `sample` arcs, blocks of neighbouring vertices and the arcs among them
        stand for it.
    features : how many numbers a vertex has.
    layouts : those to measure beside CSR; by default all.
    timer : of a function without arguments gives the seconds that a call takes; by default the median of a few calls.

    The fastest is recommended, or the smallest of those that are within a tenth of its speed.
    Raises ArgumentError for no features, or the name of no layout.
    """
    if as_count(features, "features") < 1:
        raise ArgumentError(f"features: expected at least one, got {features}")
    names = tuple(layouts) or tuple(LAYOUTS)
    for name in names:
        known(name)
    timer = timer or (lambda step: median_seconds(step, graph.device))
    part = sampled(graph.to_csr() if isinstance(graph, FormattedGraph) else graph, sample)
    data = torch.ones((part.num_vertices, features), device=part.device)
    measured, refused = [_measured(part, "csr", 0.0, data, timer)], {}
    for name in names:
        if name == "csr":
            continue
        begin = time.perf_counter()
        try:
            held = part.to_format(name)
        except ArgumentError as refusal:
            refused[name] = str(refusal)
            continue
        measured.append(_measured(held, name, time.perf_counter() - begin, data, timer))
    best, why = _recommended(measured) if part.num_arcs else (measured[0], "there is no arc to measure")
    return Advice(tuple(measured), refused, best.layout, why, part.num_arcs, features)


def sampled(graph: Graph, arcs: int) -> Graph:
    """The graph, or where it has more arcs than that, the subgraph of some blocks of neighbouring vertices that have
    about so many; layouts live on what neighbouring rows have in common."""
    if graph.num_arcs <= arcs:
        return graph
    size = max(1, int(graph.num_vertices * arcs / graph.num_arcs) // BLOCKS)
    starts = [(graph.num_vertices - size) * block // (BLOCKS - 1) for block in range(BLOCKS)]
    return graph.subgraph(torch.cat([torch.arange(start, start + size) for start in starts]).unique())


def _measured(
    graph: Graph, name: str, seconds: float, data: Tensor, timer: Callable[[Callable[[], object]], float]
) -> Measured:
    stored = graph.nbytes - (0 if graph.vertices is None else graph.vertices.nbytes)
    fill = 1.0 if graph.layout is None else getattr(graph.layout, "fill", 1.0)
    with torch.no_grad():
        taken = timer(lambda: aggregate(graph, data, "sum"))
    return Measured(name, stored / max(graph.num_arcs, 1), fill, seconds, 1000 * taken)


def _recommended(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """The smallest of the layouts that are about as fast as the fastest; CSR where it is as good, since every kernel
    reads it."""
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
