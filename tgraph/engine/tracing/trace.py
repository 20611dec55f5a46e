"""The trace of a run as a table, as a picture and as a page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tgraph.core.system.text import counted
from tgraph.engine.tracing import page
from tgraph.engine.tracing.data import TraceData, stretches
from tgraph.engine.tracing.records import Iteration, count_ranks
from tgraph.engine.tracing.timelines import RANKS, STAGES, draw_blocks, draw_ranks
from tgraph.markup.labels import definitions
from tgraph.markup.page import Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"push": "#e69f00", "pull": "#56b4e9"}  # colours that remain apart for the colour-blind (Okabe and Ito)
SERIES: dict[str, dict[str, Any]] = {
    "active_edges": {"color": "#000000", "linewidth": 1.4},
    "active_vertices": {"color": "#0072b2", "linewidth": 1.4},
    "changed_vertices": {"color": "#d55e00", "linewidth": 1.4, "linestyle": "--"},
}
LIMIT: dict[str, Any] = {"color": "#000000", "linewidth": 1, "linestyle": ":"}


class Trace(TraceData):
    """The trace of a run: a table by `frame`, a picture by `plot`, and a page with diagnoses by `page`.

    >>> graph = tg.generators.star(4)
    >>> trace = tg.run(tg.algorithms.BFS(1), graph, mode="push", trace=True).trace
    >>> [(step.direction, step.active_vertices, step.active_edges) for step in trace.iterations]
    [('push', 1, 1), ('push', 1, 4), ('push', 3, 3)]
    """

    def plot(self, path: str | Any) -> None:
        """Draw the run into a picture file, .png, .svg or .pdf: the frontier of each iteration, its direction, and its
        time; or write it as a `page` into a file .html.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.grid2d(20, 20), trace=True)
        >>> run.trace.plot("bfs.png")
        """
        if Path(path).suffix.lower() in (".html", ".htm"):
            self.page().save(path)
        else:
            plot({self.name or "run": self}, path)

    def page(self) -> Page:
        """The run as a page: diagnoses and remedies, iterations, block reads and exchanges. A notebook shows it, and
        its `save` writes it to a file.

        >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.grid2d(20, 20), trace=True)
        >>> run.trace.page().save("bfs.html")
        """
        return page.of_trace(self)

    def _repr_html_(self) -> str:
        backends = sorted({step.backend for step in self.iterations})
        facts = {
            "graph": f"{self.num_vertices:,} vertices, {self.num_arcs:,} arcs",
            "iterations": f"{len(self):,}, {counted(self.switches, 'direction switch')}",
            "time": f"{self.milliseconds:,.1f} ms",
            "backend": ", ".join(backends) or "none",
        }
        if self.visits:
            facts["blocks"] = f"{len(self.visits):,} visits"
        if self.shares:
            facts["ranks"] = f"{count_ranks(self.shares):,}"
        return definitions(f"Trace of {self.name or 'a run'}", facts)


def plot(traces: Mapping[str, Trace], path: str | Any, title: str = "") -> None:
    """Draw several runs into one picture file, a row for each: frontier and changes on the left, time on the right. A
    run on a streamed graph has another row with the block reads, and a run on a graph spread over ranks a row with the
    computing and waiting of each rank.

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
    """The heights of the rows of a run, in inches."""
    heights = [2.2]
    if trace.visits:
        heights.append(1.6)
    if trace.shares:
        heights.append(0.8 + min(0.4 * count_ranks(trace.shares), 8.0))
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
    """The numbers of active and changed vertices and edges, logarithmic, over the direction as a background."""
    steps = trace.iterations
    for direction, first, last in stretches(steps):
        axis.axvspan(first - 0.5, last + 0.5, color=COLOURS[direction], alpha=0.18, linewidth=0)
    marker = "o" if len(steps) <= 60 else None
    for column, style in SERIES.items():
        axis.plot([getattr(step, column) for step in steps], **style, marker=marker, markersize=3.5)
    axis.axhline(trace.num_arcs, **LIMIT)
    axis.set_yscale("symlog", linthresh=1)
    axis.set_ylim(0, 5 * max(trace.num_arcs, trace.num_vertices, 1))
    axis.set_ylabel("count", fontsize=9)
    _finish(axis, steps, f"{name}: {counted(len(steps), 'iteration')}, {counted(trace.switches, 'direction switch')}")


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
