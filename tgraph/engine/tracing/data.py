"""The data of a trace: iterations of a run, their backends, block reads and exchanges."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import torch

from tgraph.core.dispatch import LAYOUT
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode
from tgraph.engine.tracing.records import Conditions, Exchange, Iteration, Served, Share, Visit
from tgraph.kernels import Choice

if TYPE_CHECKING:
    import pandas


class TraceData:
    """The iterations of one run, in order.

    iterations : an `Iteration` each. choices : for each kind of call, the backend, and why preferred backends did not
    support it; `served` has the same as data. conditions : the options of the run. begins : start times of iterations,
    by the clock, at least on graphs spread over ranks. visits : of a streamed graph, every visit to a block.
    exchanges, shares : of a graph spread over ranks, every exchange and share of each rank, the same on all ranks.
    """

    name: str
    num_vertices: int
    num_arcs: int
    conditions: Conditions

    def __init__(self, graph: Graph, name: str = ""):
        self.name, self.num_vertices, self.num_arcs = name, graph.num_vertices, graph.num_arcs
        self.iterations: list[Iteration] = []
        self.choices: list[str] = []
        self.served: list[Served] = []
        self.conditions = Conditions()
        self.begins: list[float] = []
        self.visits: list[Visit] = []
        self.exchanges: list[Exchange] = []
        self.shares: list[Share] = []
        self._device = graph.device

    def clock(self) -> float:
        """The time in seconds, after synchronising the device.

        >>> trace = tg.Trace(tg.generators.path(3))
        >>> start = trace.clock()
        >>> trace.clock() >= start
        True
        """
        if self._device.type != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter()

    def add(
        self, direction: Mode, active: Frontier, changed: Frontier, start: float, choices: Iterable[Choice] = ()
    ) -> None:
        """Add an iteration: the `direction` chosen by the engine, its frontier `active`, the `changed` vertices, the
        clock at its `start`, and the `choices` of backends, whose calls have the actual direction.

        >>> graph = tg.generators.path(3)
        >>> trace = tg.Trace(graph)
        >>> trace.add("push", graph.select(0), graph.select(1), start=trace.clock())
        >>> trace.iterations[0].changed_vertices
        1
        """
        milliseconds = (self.clock() - start) * 1e3
        self.begins.append(start)
        choices = list(choices)
        taken = {way for choice in choices if (way := _direction(choice)) is not None}
        direction = taken.pop() if len(taken) == 1 else direction
        self._append(direction, *active.measure(), changed.size, milliseconds, self._backends(choices))

    def add_rounds(self, rounds: Iterable[Any], choices: Iterable[Choice]) -> None:
        """Add `rounds` of a backend's loop, optionally with start times; `choices` : of it, and within."""
        backend = self._backends(choices)
        for pulled, size, arcs, changed, milliseconds, began in rounds:
            self.begins += [] if began is None else [began]
            self._append("pull" if pulled else "push", size, arcs, changed, milliseconds, backend)

    def _append(self, direction: Mode, size: int, arcs: int, changed: int, milliseconds: float, backend: str) -> None:
        step = Iteration(len(self.iterations), direction, size, arcs, changed, milliseconds, backend)
        self.iterations.append(step)

    def _backends(self, choices: Iterable[Choice]) -> str:
        names: list[str] = []
        for choice in choices:
            self.note(choice)
            if choice.backend is not None and choice.backend.name not in names:
                names.append(choice.backend.name)
        return "+".join(names)

    def note(self, choice: Choice) -> None:
        """Add a new `choice` of a backend."""
        if str(choice) not in self.choices:
            self.choices.append(str(choice))
            name = None if choice.backend is None else choice.backend.name
            self.served.append(Served(choice.operator, name, dict(choice.refused)))

    @property
    def switches(self) -> int:
        """The number of changes of direction.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4), mode="push", trace=True)
        >>> run.trace.switches
        0
        """
        directions = [step.direction for step in self.iterations]
        return sum(a != b for a, b in pairwise(directions))

    @property
    def milliseconds(self) -> float:
        """The total time of the iterations.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4), trace=True)
        >>> run.trace.milliseconds > 0
        True
        """
        return sum(step.milliseconds for step in self.iterations)

    def __len__(self) -> int:
        return len(self.iterations)

    def __repr__(self) -> str:
        return f"Trace({self.name}: {len(self)} iterations, {self.switches} switches, {self.milliseconds:.1f} ms)"

    def frame(self) -> pandas.DataFrame:
        """One row per iteration, with the fields of `Iteration` as columns.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.star(4), mode="push", trace=True)
        >>> run.trace.frame()[["direction", "active_vertices", "active_edges"]]
          direction  active_vertices  active_edges
        0      push                1             4
        1      push                4             4
        """
        import pandas

        return pandas.DataFrame(map(asdict, self.iterations), columns=[field.name for field in fields(Iteration)])

    def by_rank(self) -> pandas.DataFrame:
        """One row per iteration and rank of a graph spread over ranks, with the fields of `Share` as columns: seconds
        of computing, waiting, and messages under way, and their bytes. Empty for other graphs.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4), trace=True)
        >>> run.trace.by_rank().empty
        True
        """
        import pandas

        return pandas.DataFrame(map(asdict, self.shares), columns=[field.name for field in fields(Share)])


def _direction(choice: Choice) -> Mode | None:
    """The actual direction of the messages of a call; None for a call without arcs."""
    call = choice.call
    if choice.is_by(LAYOUT) and choice.operator == "aggregate":
        return "pull"  # layouts offer nothing else
    return None if call is None or call.sub is None else call.sub.mode


def stretches(steps: Iterable[Iteration]) -> Iterator[tuple[Mode, int, int]]:
    """(direction, first, last) for every stretch of iterations in one direction."""
    for direction, group in groupby(steps, key=lambda step: step.direction):
        stretch = list(group)
        yield direction, stretch[0].iteration, stretch[-1].iteration
