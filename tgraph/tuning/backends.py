"""`tune`: measure the fastest backend for a graph once, and store the choice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph, whole
from tgraph.core.system.text import table
from tgraph.errors import ArgumentError
from tgraph.formats import LAYOUTS
from tgraph.formats.reordering import ORDERS
from tgraph.kernels import BACKENDS, Backend, by_rule, refusal, tuned
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.markup.labels import preformatted
from tgraph.model.operators import aggregate
from tgraph.tuning.settings import Settings, known_names, measured_settings
from tgraph.tuning.timing import MARGIN, Timer, timer_on


@dataclass(frozen=True)
class Tuned:
    """The result of `tune`.

    choices : {"sum": backend, "max": backend}, the choices of backend="auto" from now on.
    milliseconds : {"sum": {backend: milliseconds of a call}, "max": ...} of all measured backends.
    settings : the orders and layouts that were measured, None where none were asked for.

    >>> tuned = tg.tune(tg.generators.rmat(6), columns=8)
    >>> tuned.choices["sum"] in tuned.milliseconds["sum"]
    True
    """

    choices: dict[str, str]
    milliseconds: dict[str, dict[str, float]]
    settings: Settings | None = None

    @property
    def graph(self) -> Graph:
        """The graph in the fastest order and layout, the given one where no other is clearly faster. `tgraph.write`
        keeps both. Raises ArgumentError where none were asked for.

        >>> tg.tune(tg.generators.path(9), layouts=["dcsr"]).graph.num_edges
        8
        """
        return self._settings.graph

    @property
    def gain(self) -> float:
        """The speed of the operation on `graph` over that on the one given.

        >>> tg.tune(tg.generators.path(9), layouts=["dcsr"]).gain >= 1
        True
        """
        return self._settings.chosen.gain

    @property
    def _settings(self) -> Settings:
        if self.settings is None:
            raise ArgumentError('tune: no order or layout was measured; name some, as in tune(graph, layouts=["sell"])')
        return self.settings

    def __str__(self) -> str:
        rows = [("aggregate", "backend", "ms")]
        for reduce, times in self.milliseconds.items():
            for name, taken in times.items():
                rows.append((reduce, name + " (chosen)" * (name == self.choices[reduce]), f"{taken:.3g}"))
        return table(rows, left=(0, 1)) + ("" if self.settings is None else f"\n\n{self.settings}")

    def _repr_html_(self) -> str:
        return preformatted(self)


def tune(
    graph: Graph,
    columns: int = 1,
    *,
    dtype: torch.dtype = torch.float32,
    orders: str | Sequence[str] = (),
    layouts: str | Sequence[str] = (),
    operation: Callable[[Graph], object] | None = None,
    again: bool = False,
    timer: Timer | None = None,
) -> Tuned:
    """Measure the fastest backends for sums and for maxima over a graph like this; backend="auto" then uses them. Where
    some are named, measure orders of its vertices and layouts of its arcs as well.

    Without it "auto" follows a rule: compiled kernels where the device has any, otherwise torch's operators. The choice
    holds for aggregates over all arcs (means and minima included), for graphs on the same device with numbers of
    vertices and arcs and largest degree within a factor of two, and for the same number of columns, rounded up to a
    power of two. It is stored in `tuned.json` of the cache folder (TGRAPH_CACHE, or ~/.cache/tgraph), for this device,
    driver, number of threads and version of torch, and measured once. Nondeterministic backends are not considered.

    graph : the graph, on the device where it will be used.
    columns : of the vertex data, [n] or [n, columns].
    dtype : the dtype of the data.
    orders : of the vertices, names of `Graph.reorder`, or one. layouts : of the arcs, names of `Graph.to_format`,
        each with several values of its options (`tgraph.tuning.settings.OPTIONS`), in the best order. The `graph` of
        the result is in the fastest. A .tg file of it keeps both, and the choices; str() says what was gained.
    operation : what is measured in them, a function of a graph; by default the sum over all arcs.
    again : measure even if a choice is stored.
    timer : a function that returns the seconds of a call of its argument, by default the median of a few.

    Raises ArgumentError for no columns, a dtype that is not floating, and an unknown order or layout.

    >>> tg.tune(tg.generators.rmat(6), columns=8).choices
    {'sum': '...', 'max': '...'}
    >>> tuned = tg.tune(tg.generators.rmat(6), orders=["degree"], layouts=["sell"], operation=tg.algorithms.pagerank)
    >>> tg.write(tuned.graph, "tuned.tg")
    >>> tg.read("tuned.tg").num_edges == tuned.graph.num_edges
    True
    """
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph, got {type(graph).__name__}; see Graph.from_*")
    if columns < 1:
        raise ArgumentError(f"columns: {columns} is not positive; data has at least one number for each vertex")
    if not dtype.is_floating_point:
        raise ArgumentError(f"dtype: expected a floating dtype, got {dtype}")
    orders, layouts = known_names(orders, "orders", ORDERS), known_names(layouts, "layouts", LAYOUTS)
    shape = (graph.num_vertices, columns) if columns > 1 else (graph.num_vertices,)
    data = torch.ones(shape, dtype=dtype, device=graph.device)
    keys = {reduce: tuned.key(graph, reduce, columns, dtype) for reduce in ("sum", "max")}
    wanted = [reduce for reduce, key in keys.items() if again or key not in tuned.stored()]
    timer = timer or timer_on(graph.device)
    if wanted:
        _store({keys[reduce]: _measured(graph, data, reduce, timer) for reduce in wanted})
    found = {reduce: tuned.stored()[key] for reduce, key in keys.items()}
    settings = None
    if orders or layouts:
        with torch.no_grad():
            sums = operation or (lambda held: aggregate(held, data, "sum"))
            settings = measured_settings(graph, orders, layouts, sums, timer)
    return Tuned(
        {reduce: measured.choice for reduce, measured in found.items()},
        {reduce: measured.milliseconds for reduce, measured in found.items()},
        settings,
    )


def _measured(graph: Graph, data: Tensor, reduce: str, timer: Timer) -> tuned.Measured:
    """Times of all supporting backends, and the choice: the rule's, unless another is faster by MARGIN."""
    call = Call("aggregate", data, REDUCTIONS[reduce], sub=_subgraph(graph, "auto"))
    times = {}
    for name in (name for name, each in BACKENDS.items() if refusal(each, call) is None and each.is_ordered(call)):
        sub = _subgraph(graph, name)
        with torch.no_grad():
            times[name] = 1000 * timer(lambda sub=sub: aggregate(sub, data, reduce))  # type: ignore[misc]
    fastest, preferred = min(times, key=lambda name: times[name]), cast(Backend, by_rule(call).backend).name
    return tuned.Measured(preferred if times[preferred] < MARGIN * times[fastest] else fastest, times)


def _subgraph(graph: Graph, backend: str) -> Subgraph:
    return whole(graph, graph.everything(), "pull", backend)


def _store(measured: dict[str, tuned.Measured]) -> None:
    try:
        tuned.store(measured)
    except (OSError, RuntimeError) as fault:
        warnings.warn(
            f"tune: the choice holds for this process only, since it cannot be written: {fault}; "
            "set the environment variable TGRAPH_CACHE to a writable folder",
            stacklevel=3,
        )
