"""The picture of inserts per second by the size of the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.dynamic.systems import SMALL_ONLY
from bench.results import drawn


def draw(rates: dict[tuple[str, int], float], title: str, path: Path) -> None:
    """Write it as PNG. rates : {(system, arcs of a batch): million arcs per second}."""
    with drawn(path, (8.5, 5)) as (_, (axis,)):
        curves(axis, rates)
        axis.set(xscale="log", yscale="log", title=title)
        axis.set(xlabel="arcs of a batch", ylabel="million arcs inserted per second")
        axis.grid(True, which="both", linewidth=0.3)
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def curves(axis: Any, rates: dict[tuple[str, int], float]) -> None:
    for system in dict.fromkeys(name for name, _ in rates):
        points = sorted((batch, rate) for (name, batch), rate in rates.items() if name == system)
        ours = system.startswith("tgraph")
        label = f"{system} (smaller graph)" if system in SMALL_ONLY else system
        axis.plot(*zip(*points, strict=True), marker="o", linewidth=2.5 if ours else 1.2, label=label, zorder=2 + ours)
