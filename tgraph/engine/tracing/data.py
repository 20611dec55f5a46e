"""What a trace holds: the iterations of a run, who served them, and what was read and exchanged."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, fields
from itertools import pairwise
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

    iterations : what each did. choices : for each kind of call, which backend served it, and why those preferred to it
    did not; `served` has the same as data. conditions : what the run was given. begins : when iterations began, by the
    clock, of graphs that are spread over ranks at least. visits : of a streamed graph, every visit to a block.
    exchanges, shares : of a graph that is spread over ranks, every exchange of each rank, and what each did in each
    iteration; all ranks have those of all.
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
        """The time in seconds, once the device has finished what it was given.

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
        """Add an iteration: the `direction` that the engine chose, what was `active`, what `changed`, the clock at its
        `start`, and the `choices` of backends, whose calls have the direction that was taken.

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
        self._append(
            taken.pop() if len(taken) == 1 else direction,
            *active.measure(),
            changed.size,
            milliseconds,
            self._backends(choices),
        )

    def add_rounds(self, rounds: Iterable[Any], choices: Iterable[Choice]) -> None:
        """The loop that a backend runs has done these `rounds`, which may end with the clock at their beginning; the
        `choices` of that backend, and within its loop."""
        backend = self._backends(choices)
        for pulled, size, arcs, changed, milliseconds, *began in rounds:
            self.begins += began
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
        """Add a `choice` of a backend, unless it is there already."""
        if str(choice) not in self.choices:
            self.choices.append(str(choice))
            name = None if choice.backend is None else choice.backend.name
            self.served.append(Served(choice.operator, name, dict(choice.refused)))

    @property
    def switches(self) -> int:
        """How many times the direction changed.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4), mode="push", trace=True)
        >>> run.trace.switches
        0
        """
        directions = [step.direction for step in self.iterations]
        return sum(a != b for a, b in pairwise(directions))

    @property
    def milliseconds(self) -> float:
        """The time of all iterations together.

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
        """One row per iteration and rank of a graph that is spread over ranks, with the fields of `Share` as columns:
        seconds in which the rank computed, waited, and had messages under way, and their bytes. Empty for others.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4), trace=True)
        >>> run.trace.by_rank().empty
        True
        """
        import pandas

        return pandas.DataFrame(map(asdict, self.shares), columns=[field.name for field in fields(Share)])


def _direction(choice: Choice) -> Mode | None:
    """The direction of the messages of a call, which may be another than the engine's; None for a call without arcs."""
    call = choice.call
    if choice.is_by(LAYOUT) and choice.operator == "aggregate":
        return "pull"  # from the stored arcs or their transpose: layouts offer nothing else
    return None if call is None or call.sub is None else call.sub.mode


def counted(count: int, noun: str) -> str:
    """A number of things in words."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{count:,} {noun if count == 1 else plural}"
