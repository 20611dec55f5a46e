"""The picture: a line for each call, a mark for each size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.networkx.report import at_least, ratio
from bench.plot import dress
from bench.results import drawn

COLORS = ("tab:blue", "tab:green", "tab:orange", "tab:red")
MARKERS = ("o", "s", "^", "D")
TITLES = {"first": "first call, the graph is converted", "later": "later calls, the graph is converted already"}


def draw(cells: list[dict[str, Any]], path: Path) -> Path:
    """Two panels, first and later calls: how many times longer networkx takes than tgraph."""
    cells = [cell for cell in cells if "later" in cell["systems"]["tgraph"]]
    names = ordered(cells)
    sizes = sorted({cell["asked"] for cell in cells})
    size = (13, 1.8 + 0.21 * len(names))
    with drawn(path, size, 2, sharey=True) as (figure, axes):
        for axis, (state, title) in zip(axes, TITLES.items(), strict=True):
            handles = [panel(axis, cells, names, asked, state, place) for place, asked in enumerate(sizes)]
            dress(axis, names)
            axis.set_title(title, fontsize=10)
        figure.suptitle(
            "time of networkx over TGraph's: right of 1 TGraph is faster\n"
            "hollow: networkx did not end; pale: left to networkx where the call does not name the backend",
            fontsize=11,
        )
        labels = [f"{asked:,} edges" for asked in sizes]
        figure.legend(handles, labels, loc="outside lower center", ncols=len(sizes), frameon=False)
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
