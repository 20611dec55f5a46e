"""One picture for each number of threads: for every graph a panel, for every kernel the ratios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from bench.kernels import KERNELS
from bench.measure import cells_of, ratio_of
from bench.results import drawn

STYLES = {
    "gapbs": ("black", "D"),
    "networkit": ("tab:blue", "o"),
    "igraph": ("tab:orange", "s"),
    "scipy": ("tab:green", "^"),
    "graphblas": ("tab:red", "v"),
    "rustworkx": ("tab:purple", "P"),
    "networkx": ("tab:brown", "X"),
}
COLUMNS = 2


def plot(results: dict[str, Any], output: Path) -> list[Path]:
    """Write analytics-<threads>.png for each number of threads that was measured."""
    counts = sorted({run["threads"] for run in results["runs"]})
    drawn = []
    for threads in counts:
        runs = [run for run in results["runs"] if run["threads"] == threads and run["cells"]]
        if runs:
            drawn.append(draw(runs, threads, output / f"analytics-{threads}-threads.png"))
    return drawn


def draw(runs: list[dict[str, Any]], threads: int, path: Path) -> Path:
    columns = min(COLUMNS, len(runs))
    rows = math.ceil(len(runs) / columns)
    size = (6.5 * columns, 4.6 * rows + 0.9)
    with drawn(path, size, columns, rows) as (figure, axes):
        seen: dict[str, Any] = {}
        for axis, run in zip(axes, runs, strict=False):
            panel(axis, run, seen)
        for axis in axes[len(runs) :]:
            axis.set_visible(False)
        plural = "s" * (threads > 1)
        title = f"time of each system over TGraph's, {threads} thread{plural} (right of 1: TGraph is faster)"
        figure.suptitle(title, fontsize=12)
        if labels := [name for name in STYLES if name in seen]:
            handles = [seen[name] for name in labels]
            figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), frameon=False)
    return path


def panel(axis: Any, run: dict[str, Any], seen: dict[str, Any]) -> None:
    """Bands of kernels from top to bottom; within a band the systems one below the other, with their spread."""
    ratios = {}
    for kernel in KERNELS:
        cells = cells_of(run, kernel)
        found = {name: ratio_of(cells[name], cells.get("tgraph")) for name in STYLES if name in cells}
        ratios[kernel] = {name: spread for name, spread in found.items() if spread is not None}
    kernels = [kernel for kernel in KERNELS if ratios[kernel]]
    for band, kernel in enumerate(kernels):
        shown = ratios[kernel]
        for place, (name, spread) in enumerate(shown.items()):
            height = band + 0.8 * ((place + 0.5) / len(shown) - 0.5)
            color, marker = STYLES[name]
            reach = [[spread.median - spread.low], [spread.high - spread.median]]
            options = {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.2, "linestyle": "none"}
            seen[name] = axis.errorbar([spread.median], [height], xerr=reach, elinewidth=1, **options)
    graph = run["graph"]
    dress(axis, [KERNELS[kernel].title for kernel in kernels])
    axis.set_title(f"{graph['name']}: {graph['num_vertices']:,} vertices, {graph['num_arcs']:,} arcs", fontsize=10)


def dress(axis: Any, names: list[str]) -> None:
    """Bands and their names from top to bottom, ratios to 1 on a logarithmic scale."""
    for row in range(1, len(names), 2):
        axis.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
    axis.axvline(1, color="0.4", linewidth=1, zorder=1)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_yticks(range(len(names)), names, fontsize=9)
    axis.grid(axis="x", color="0.88", linewidth=0.6)
