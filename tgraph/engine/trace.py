"""What each iteration of a run did, as a table and as a picture."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import torch

from tgraph.core.dispatch import LAYOUT
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode
from tgraph.engine.records import Exchange, Iteration, Share, Visit
from tgraph.engine.timelines import RANKS, STAGES, draw_blocks, draw_ranks
from tgraph.kernels import Choice

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Colours that remain apart for the colour-blind (Okabe and Ito).
COLOURS = {"push": "#e69f00", "pull": "#56b4e9"}
SERIES: dict[str, dict[str, Any]] = {
    "active_edges": {"color": "#000000", "linewidth": 1.4},
    "active_vertices": {"color": "#0072b2", "linewidth": 1.4},
    "changed_vertices": {"color": "#d55e00", "linewidth": 1.4, "linestyle": "--"},
}
LIMIT: dict[str, Any] = {"color": "#000000", "linewidth": 1, "linestyle": ":"}


class Trace:
    """The iterations of one run, in order.

    iterations : what each did. choices : for each kind of call, which backend served it, and why those preferred to it
    did not. begins : when iterations began, by the clock, of graphs that are spread over ranks at least. visits : of a
    streamed graph, every visit to a block. exchanges, shares : of a graph that is spread over ranks, every exchange of
    each rank, and what each did in each iteration; all ranks have those of all.

    >>> graph = tg.generators.star(4)
    >>> trace = tg.run(tg.algorithms.BFS(1), graph, mode="push", trace=True).trace
    >>> [(step.direction, step.active_vertices, step.active_edges) for step in trace.iterations]
    [('push', 1, 1), ('push', 1, 4), ('push', 3, 3)]
    """

    def __init__(self, graph: Graph, name: str = ""):
        self.name, self.num_vertices, self.num_arcs = name, graph.num_vertices, graph.num_arcs
        self.iterations: list[Iteration] = []
        self.choices: list[str] = []
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
            if str(choice) not in self.choices:
                self.choices.append(str(choice))
            if choice.backend is not None and choice.backend.name not in names:
                names.append(choice.backend.name)
        return "+".join(names)

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

    def plot(self, path: str | Any) -> None:
        """Draw the run into a picture file: the frontier of each iteration, its direction, and its time.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.grid2d(20, 20), trace=True)
        >>> run.trace.plot("bfs.png")
        """
        plot({self.name or "run": self}, path)


def plot(traces: Mapping[str, Trace], path: str | Any, title: str = "") -> None:
    """Draw several runs into one picture file, a row for each: frontier and changes on the left, time on the right. A
    run on a streamed graph has a second row: when each block was loaded and computed on; one on a graph that is spread
    over ranks as well: when each of them computed and waited.

    `traces` maps the name of each row to its trace, `path` names a .png, .svg or .pdf file, `title` stands on top.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights = [height for trace in traces.values() for height in _heights(trace)]
    figure = Figure(figsize=(12, 1.3 + sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    grid, row = figure.add_gridspec(len(heights), 2, width_ratios=(3, 2), height_ratios=heights), 0
    for name, trace in traces.items():
        left, right = figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1])
        _draw_frontier(left, name, trace)
        _draw_time(right, trace)
        if trace.visits:
            draw_blocks(figure.add_subplot(grid[row + 1, :]), trace.visits)
        if trace.shares:
            draw_ranks(figure.add_subplot(grid[row + len(_heights(trace)) - 1, :]), trace.shares, trace.exchanges)
        row += len(_heights(trace))
        if row == len(heights):
            for axis in (left, right):
                axis.set_xlabel("iteration")
    handles = _legend(traces.values())
    columns = -(-len(handles) // (1 if len(handles) < 9 else 2))
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "frameon": False}
    figure.legend(handles=handles, title=title, title_fontsize=12, **place)
    figure.savefig(path, dpi=130)


def _heights(trace: Trace) -> list[float]:
    """Those of the rows of a run, in inches."""
    heights = [2.2]
    if trace.visits:
        heights.append(1.6)
    if trace.shares:
        heights.append(0.8 + min(0.4 * (1 + max(share.rank for share in trace.shares)), 8.0))
    return heights


def _legend(traces: Collection[Trace]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [Line2D([], [], **style, label=name.replace("_", " ")) for name, style in SERIES.items()]
    limit = Line2D([], [], **LIMIT, label="all edges")
    colours = COLOURS | (STAGES if any(trace.visits for trace in traces) else {})
    if any(trace.shares for trace in traces):
        colours |= RANKS
    return [*lines, limit, *(Patch(color=colour, alpha=0.6, label=name) for name, colour in colours.items())]


def _draw_frontier(axis: Axes, name: str, trace: Trace) -> None:
    """How much was active and how much changed, on a logarithmic scale, over the direction as a background."""
    steps = trace.iterations
    for direction, first, last in _stretches(steps):
        axis.axvspan(first - 0.5, last + 0.5, color=COLOURS[direction], alpha=0.18, linewidth=0)
    marker = "o" if len(steps) <= 60 else None
    for column, style in SERIES.items():
        axis.plot([getattr(step, column) for step in steps], **style, marker=marker, markersize=3.5)
    axis.axhline(trace.num_arcs, **LIMIT)
    axis.set_yscale("symlog", linthresh=1)
    axis.set_ylim(0, 5 * max(trace.num_arcs, trace.num_vertices, 1))
    axis.set_ylabel("count", fontsize=9)
    _finish(axis, steps, f"{name}: {_counted(len(steps), 'iteration')}, {_counted(trace.switches, 'direction switch')}")


def _draw_time(axis: Axes, trace: Trace) -> None:
    """The time of each iteration in the colour of its direction."""
    steps = trace.iterations
    edges = [i - 0.5 for i in range(len(steps) + 1)]
    for direction, colour in COLOURS.items():
        heights = [step.milliseconds if step.direction == direction else 0 for step in steps]
        axis.stairs(heights, edges, fill=True, color=colour, alpha=0.8)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("milliseconds", fontsize=9)
    _finish(axis, steps, f"{trace.milliseconds:,.1f} ms in all")


def _finish(axis: Axes, steps: list[Iteration], title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_title(title, fontsize=10, loc="left")
    axis.set_xlim(-0.5, max(len(steps), 1) - 0.5)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def _direction(choice: Choice) -> Mode | None:
    """The direction of the messages of a call, which may be another than the engine's; None for a call without arcs."""
    call = choice.call
    if choice.is_by(LAYOUT) and choice.operator == "aggregate":
        return "pull"  # from the stored arcs or their transpose: layouts offer nothing else
    return None if call is None or call.sub is None else call.sub.mode


def _stretches(steps: list[Iteration]) -> Iterator[tuple[Mode, int, int]]:
    """(direction, first, last) for every stretch of iterations in one direction."""
    for direction, group in groupby(steps, key=lambda step: step.direction):
        stretch = list(group)
        yield direction, stretch[0].iteration, stretch[-1].iteration


def _counted(count: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{count:,} {noun if count == 1 else plural}"
