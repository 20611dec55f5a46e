"""The pictures: volume by the number of parts, time by the number of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.scaling.model import Times

NAMES = {
    "ebp": "whole rows, given order",
    "wcp": "well-connected",
    "metis": "METIS",
    "hubs": "hubs cut",
    "wcp hubs": "well-connected, hubs cut",
    "2d": "grid",
}
COLORS = dict(zip(NAMES, ("#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#0072b2"), strict=True))


def volumes(rows: list[dict[str, Any]], graphs: list[str], path: Path) -> None:
    """A panel for each graph: values and sums sent in an iteration, over arcs, mean and as of the largest rank."""
    figure, axes = panels(len(graphs))
    for axis, graph in zip(axes, graphs, strict=True):
        for method, color in COLORS.items():
            found = sorted((r["parts"], r) for r in rows if r["graph"] == graph and r["method"] == method)
            if not found:
                continue
            parts = [p for p, _ in found]
            mean = [row["total"] / row["arcs"] for _, row in found]
            largest = [row["largest"] * p / row["arcs"] for p, row in found]
            axis.plot(parts, mean, marker="o", markersize=3.5, color=color, label=NAMES[method])
            axis.plot(parts, largest, linewidth=0.9, linestyle=":", color=color)
        axis.set(xscale="log", yscale="log", xlabel="parts", title=graph)
        axis.set_xscale("log", base=2)
        axis.grid(True, linewidth=0.3)
    axes[0].set_ylabel("values and sums sent / arcs\n(dotted: if all ranks had the largest share)")
    drawn = {text: line for axis in axes for line, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=len(drawn), frameon=False, fontsize=9)
    save(figure, path)


def times(lines: dict[str, dict[str, list[tuple[int, Times]]]], path: Path) -> None:
    """A panel for each {title: {partition: [(nodes, times)]}}, and the ideal: computing alone."""
    figure, axes = panels(len(lines))
    for axis, (title, found) in zip(axes, lines.items(), strict=True):
        for method, points in found.items():
            style = {"marker": "o", "color": COLORS[method], "label": NAMES[method]}
            axis.plot([p for p, _ in points], [1000 * t.total for _, t in points], **style)
        computing = next(iter(found.values()))
        ideal = [1000 * computing[0][1].computing * computing[0][0] / p for p, _ in computing]
        axis.plot(
            [p for p, _ in computing], ideal, color="black", linestyle="--", linewidth=0.9, label="computing alone"
        )
        axis.set_xscale("log", base=2)
        axis.set(yscale="log", xlabel="nodes", title=title)
        axis.grid(True, which="both", linewidth=0.3)
    axes[0].set_ylabel("ms")
    axes[0].legend(frameon=False, fontsize=8)
    save(figure, path)


def panels(count: int) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, count, figsize=(4.3 * count, 4.4), layout="constrained", squeeze=False)
    return figure, axes[0]


def save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=110)
    plt.close(figure)
