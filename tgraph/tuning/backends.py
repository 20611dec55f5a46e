"""`tune`: measure the fastest backend for a graph once, and store the choice."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph, whole
from tgraph.errors import ArgumentError
from tgraph.kernels import BACKENDS, Backend, by_rule, refusal, tuned
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.model.operators import aggregate

MARGIN = 1.1  # a backend that is faster by this factor replaces the rule's choice; less is noise
SECONDS, CALLS = 0.05, 3  # of a measurement, at least

Timer = Callable[[Callable[[], object]], float]  # the seconds of a call of its argument


@dataclass(frozen=True)
class Tuned:
    """The result of `tune`.

    choices : {"sum": backend, "max": backend}, the choices of backend="auto" from now on.
    milliseconds : {"sum": {backend: milliseconds of a call}, "max": ...} of all measured backends.

    >>> tuned = tg.tune(tg.generators.rmat(6), columns=8)
    >>> tuned.choices["sum"] in tuned.milliseconds["sum"]
    True
    """

    choices: dict[str, str]
    milliseconds: dict[str, dict[str, float]]


def tune(
    graph: Graph,
    columns: int = 1,
    *,
    dtype: torch.dtype = torch.float32,
    again: bool = False,
    timer: Timer | None = None,
) -> Tuned:
    """Measure the fastest backends for sums and for maxima over a graph like this; backend="auto" then uses them.

    Without it "auto" follows a rule: compiled kernels where the device has any, otherwise torch's operators. The choice
    holds for aggregates over all arcs (means and minima included), for graphs on the same device with numbers of
    vertices and arcs and largest degree within a factor of two, and for the same number of columns, rounded up to a
    power of two. It is stored in `tuned.json` of the cache folder (TGRAPH_CACHE, or ~/.cache/tgraph), for this device,
    driver, number of threads and version of torch, and measured once. Nondeterministic backends are not considered.

    graph : the graph, on the device where it will be used.
    columns : of the vertex data, [n] or [n, columns].
    dtype : the dtype of the data.
    again : measure even if a choice is stored.
    timer : a function that returns the seconds of a call of its argument, by default the median of a few.

    Raises ArgumentError for no columns, or a dtype that is not floating.

    >>> tg.tune(tg.generators.rmat(6), columns=8).choices
    {'sum': '...', 'max': '...'}
    """
    if columns < 1:
        raise ArgumentError(f"columns: {columns} is not positive; data has at least one number for each vertex")
    if not dtype.is_floating_point:
        raise ArgumentError(f"dtype: expected a floating dtype, got {dtype}")
    shape = (graph.num_vertices, columns) if columns > 1 else (graph.num_vertices,)
    data = torch.ones(shape, dtype=dtype, device=graph.device)
    keys = {reduce: tuned.key(graph, reduce, columns, dtype) for reduce in ("sum", "max")}
    wanted = [reduce for reduce, key in keys.items() if again or key not in tuned.stored()]
    if wanted:
        timer = timer or timer_on(graph.device)
        _store({keys[reduce]: _measured(graph, data, reduce, timer) for reduce in wanted})
    found = {reduce: tuned.stored()[key] for reduce, key in keys.items()}
    return Tuned(
        {reduce: measured.choice for reduce, measured in found.items()},
        {reduce: measured.milliseconds for reduce, measured in found.items()},
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


def timer_on(device: torch.device) -> Timer:
    """A timer by the median of a few calls on a device."""
    return lambda step: median_seconds(step, device)


def median_seconds(step: Callable[[], object], device: torch.device) -> float:
    """The seconds of a call: the median of a few, after a warm-up call."""

    def seconds() -> float:
        begin = time.perf_counter()
        step()
        if device.type != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter() - begin

    seconds()
    taken = [seconds()]
    while len(taken) < CALLS or sum(taken) < SECONDS:
        taken.append(seconds())
    return statistics.median(taken)
