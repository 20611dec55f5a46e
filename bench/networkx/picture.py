"""The picture: a line for each call, a mark for each size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.networkx.report import at_least, ratio

COLORS = ("tab:blue", "tab:green", "tab:orange", "tab:red")
MARKERS = ("o", "s", "^", "D")
TITLES = {"first": "first call, the graph is converted", "later": "later calls, the graph is converted already"}


def draw(cells: list[dict[str, Any]], path: Path) -> Path:
    """Two panels, first and later calls: how many times longer networkx takes than tgraph."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = [cell for cell in cells if "later" in cell["systems"]["tgraph"]]
    names = ordered(cells)
    sizes = sorted({cell["asked"] for cell in cells})
    figure, axes = plt.subplots(1, 2, figsize=(13, 1.8 + 0.21 * len(names)), sharey=True, layout="constrained")
    for axis, (state, title) in zip(axes, TITLES.items(), strict=True):
        handles = [panel(axis, cells, names, size, state, place) for place, size in enumerate(sizes)]
        dress(axis, names, title)
    figure.suptitle(
        "time of networkx over TGraph's: right of 1 TGraph is faster\n"
        "hollow: networkx did not end; pale: left to networkx where the call does not name the backend",
        fontsize=11,
    )
    labels = [f"{size:,} edges" for size in sizes]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(sizes), frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def ordered(cells: list[dict[str, Any]]) -> list[str]:
    """The calls by their speed-up on the largest graph, the greatest first."""
    speed: dict[str, float] = {}
    for cell in sorted(cells, key=lambda cell: cell["asked"]):
        found = ratio(cell, "tgraph", "later") or at_least(cell, "tgraph", "later")
        if found:
            speed[cell["case"]] = found
    return sorted(speed, key=speed.__getitem__, reverse=True)


def panel(axis: Any, cells: list[dict[str, Any]], names: list[str], size: int, state: str, place: int) -> Any:
    """The marks of one size, pale where the backend leaves the call to networkx unless it is named."""
    color, marker = COLORS[place % 4], MARKERS[place % 4]
    own = {cell["case"]: cell for cell in cells if cell["asked"] == size}
    for find, face in ((ratio, color), (at_least, "white")):
        for runs, alpha in ((True, 1.0), (False, 0.3)):
            points = [
                (speed, row)
                for row, name in enumerate(names)
                if name in own and own[name]["auto"][state]["runs"] == runs
                if (speed := find(own[name], "tgraph", state)) is not None
            ]
            options = {"linestyle": "none", "markersize": 5, "markeredgecolor": color, "markerfacecolor": face}
            axis.plot([x for x, _ in points], [y for _, y in points], marker=marker, alpha=alpha, zorder=3, **options)
    return axis.plot([], [], linestyle="none", marker=marker, markersize=5, color=color)[0]


def dress(axis: Any, names: list[str], title: str) -> None:
    """Bands, scales and names, in the style of `bench.plot`."""
    for row in range(1, len(names), 2):
        axis.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
    axis.axvline(1, color="0.4", linewidth=1, zorder=1)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.grid(axis="x", color="0.88", linewidth=0.6)
    axis.set_title(title, fontsize=10)
