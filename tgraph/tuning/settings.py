"""The order of the vertices and the layout of the arcs in which an operation is fastest, measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tgraph.core.building.inputs import check_choice
from tgraph.core.graph import Graph
from tgraph.core.system.text import table
from tgraph.errors import ArgumentError, MissingDependencyError
from tgraph.formats.reordering import reorder
from tgraph.progress import track
from tgraph.tuning.timing import MARGIN, Timer

TURNS = 5  # measurements of each candidate and of the graph as it is, in turn, so that others disturb both

# Options of the layouts that are measured beside their defaults: heights of slices and sorting scopes, how much a
# shared sequence or a parent row has to save.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "csr": ({"narrow": True},),
    "sell": ({"C": 8}, {"C": 8, "sigma": 256}, {"sigma": 1 << 16}),
    "virtual": ({"min_gain": 16}, {"max_depth": 3}),
    "cbm": ({"alpha": 8}, {"alpha": 32}),
}

Operation = Callable[[Graph], object]


@dataclass(frozen=True)
class Setting:
    """An order of the vertices, "" for the present one, and a layout of the arcs with its options.

    build_seconds : to make it. bytes_per_edge : of the graph in it. milliseconds : of the operation in it, and `before`
    on the graph as it is, in the same turn: that of the second least gain, which all turns but one reach.
    """

    order: str
    layout: str
    options: dict[str, Any]
    build_seconds: float
    bytes_per_edge: float
    milliseconds: float
    before: float

    @property
    def gain(self) -> float:
        """The speed over that on the graph as it is."""
        return self.before / self.milliseconds

    @property
    def name(self) -> str:
        """All of it in a line."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.layout}({options})" if options else self.layout


@dataclass(frozen=True)
class Settings:
    """Settings that were measured, the one as it was first; why others were not; the `graph` in the one `chosen`."""

    measured: tuple[Setting, ...]
    refused: dict[str, str]
    chosen: Setting
    graph: Graph = field(repr=False, compare=False)

    def __str__(self) -> str:
        rows = [("order", "layout", "bytes/edge", "build s", "ms", "ms as it is", "times as fast")]
        for each in self.measured:
            figures = f"{each.milliseconds:.3g}", f"{each.before:.3g}", f"{each.gain:.2f}"
            sizes = f"{each.bytes_per_edge:.2f}", f"{each.build_seconds:.3f}"
            rows.append((each.order or "as it is", each.name, *sizes, *figures))
        refused = (f"{name}: not measured, {reason}" for name, reason in self.refused.items())
        chosen = f"chosen: {self.chosen.order or 'the order as it is'}, {self.chosen.name}"
        return "\n".join([table(rows, left=(0, 1)), *refused, f"{chosen}, {self.chosen.gain:.2f} times as fast"])


def known_names(given: Any, argument: str, choices: Iterable[str]) -> tuple[str, ...]:
    """The names in an argument, one or several. Raises ArgumentError for an unknown one."""
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for each in names:
        check_choice(each, argument, tuple(choices))
    return names


def measured_settings(
    graph: Graph, orders: Sequence[str], layouts: Sequence[str], operation: Operation, timer: Timer
) -> Settings:
    """The orders in CSR, and then the layouts in the best order; of equally fast ones the first, CSR as it is,
    in which a graph without arcs stays."""
    plain, refused = graph.to_csr(), dict[str, str]()
    taken = 1e3 * timer(partial(operation, plain))
    first = Setting("", "csr", {}, 0.0, _size(plain), taken, taken)
    measured, chosen, best = [first], first, plain

    def candidates() -> Iterator[tuple[str, str, dict[str, Any], Callable[[], Graph]]]:
        for order in orders:
            yield order, "csr", {}, partial(reorder, plain, order)
        base, order = best, chosen.order
        for layout in layouts:
            for options in ({}, *OPTIONS.get(layout, ())):
                if layout != "csr" or options:
                    yield order, layout, options, partial(base.to_format, layout, **options)

    for order, layout, options, make in track(candidates() if graph.num_arcs else (), "settings"):
        begin = time.perf_counter()
        try:
            held = make()
        except (ArgumentError, MissingDependencyError) as refusal:
            refused[layout if layout != "csr" else order] = str(refusal)
            continue
        seconds = time.perf_counter() - begin
        turns = [[timer(partial(operation, each)) for each in (plain, held)] for _ in range(TURNS)]
        before, taken = sorted(turns, key=lambda times: times[0] / times[1])[1]
        measured.append(Setting(order, layout, options, seconds, _size(held), 1e3 * taken, 1e3 * before))
        if measured[-1].gain >= MARGIN * chosen.gain:
            chosen, best = measured[-1], held
    return Settings(tuple(measured), refused, chosen, best if chosen is not first else graph)


def _size(graph: Graph) -> float:
    return (graph.nbytes - (0 if graph.vertices is None else graph.vertices.nbytes)) / max(graph.num_arcs, 1)
