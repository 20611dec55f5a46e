"""Colours and areas of vertices by their data, and what the legend says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.markup.scales import Scale, short

# Colours of groups, distinct for the colour-blind (Okabe and Ito, 2008).
GROUP_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b59f00", "#555555")
MISSING = "#c4c4c4"  # of numbers that are not finite
LEAST, LEAST_OF_MANY, MANY = 0.05, 0.01, 2000  # the smallest area, of the largest, and that of more vertices
NAMES = {"x": ("x",), "y": ("y",), "longitude": ("longitude", "lon", "lng", "long"), "latitude": ("latitude", "lat")}


@dataclass
class Paint:
    """Red, green and blue in 0..1 of each vertex, [n, 3], or [1, 3] of all. The legend has `entries`, each a name and a
    colour, and for numbers the `range` from the darkest to the brightest."""

    rgb: NDArray[np.float64]
    entries: list[tuple[str, str]]
    range: tuple[float, float] | None = None


def column(graph: Graph, values: Any, argument: str, kinds: str = "biuf") -> NDArray[Any] | None:
    """One number of each vertex, or with the kind "U" a text, which may be given by the name of a column of the graph.
    Raises ArgumentError for others."""
    if values is None:
        return None
    if isinstance(values, str):
        values = named(graph, values, argument)
    held = array(values)
    if held.dtype == object and "U" in kinds and all(isinstance(value, str) for value in held.flat):
        held = held.astype(str)
    n = graph.num_vertices
    if held.shape != (n,) or held.dtype.kind not in kinds:
        what = "numbers or texts" if "U" in kinds else "numbers"
        raise ArgumentError(f"{argument}: expected {n} {what}, one for each vertex, got {held.dtype} {held.shape}")
    return held


def array(values: Any) -> NDArray[Any]:
    """Numbers of a tensor on any device, or anything else, as numpy has them."""
    return np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)


def named(graph: Graph, name: str, argument: str) -> Any:
    """The column of the vertices of this name, text as objects. Raises ArgumentError where there is none."""
    columns = graph.vertex_columns
    if name not in columns:
        known = f"there are {', '.join(map(repr, columns))}" if columns else "graph.with_columns(vertices=) adds one"
        raise ArgumentError(f"{argument}: no column of vertices is called {name!r}; {known}")
    values = columns[name]
    return values if isinstance(values, Tensor) else np.array(values.to_pylist(), dtype=object)


def coordinates(graph: Graph, positions: Any) -> NDArray[np.float64]:
    """The `positions` [n, 2], or those of a mapping from x and y, or longitude and latitude, to columns, or two names
    of columns of the graph, x and y if they are others than these: degrees are shortened to the east by the cosine of
    the middle latitude. Raises ArgumentError for others."""
    n = graph.num_vertices
    axes = {name: axis for axis, names in NAMES.items() for name in names}
    if (
        isinstance(positions, (tuple, list))
        and len(positions) == 2
        and all(isinstance(each, str) for each in positions)
    ):
        are_known = all(name.lower() in axes for name in positions)
        positions = dict(zip(positions if are_known else ("x", "y"), positions, strict=True))
    if not isinstance(positions, Mapping):
        points = array(positions).astype(np.float64)
        if points.shape != (n, 2):
            raise ArgumentError(f"positions: expected [{n}, 2], got {list(points.shape)}")
        return _finite(points)
    found = {axes.get(str(name).lower(), ""): column(graph, positions[name], "positions") for name in positions}
    if set(found) not in ({"x", "y"}, {"longitude", "latitude"}):
        raise ArgumentError(f"positions: {list(positions)} are not x and y, or longitude and latitude")
    across, up = (np.asarray(found[axis], np.float64) for axis in NAMES if axis in found)
    points = _finite(np.stack((across, up), 1))
    if "latitude" in found and n:
        wrong = np.flatnonzero(np.abs(up) > 90)
        if len(wrong):
            raise ArgumentError(f"positions: latitude {up[wrong[0]]} at position {wrong[0]} is not within -90..90")
        points[:, 0] *= np.cos(np.radians((up.min() + up.max()) / 2))
    return points


def _finite(points: NDArray[np.float64]) -> NDArray[np.float64]:
    lost = np.flatnonzero(~np.isfinite(points).all(1))
    if len(lost):
        raise ArgumentError(f"positions: row {lost[0]} is {points[lost[0]].tolist()}; give finite numbers")
    return points


def colors(values: NDArray[Any] | None) -> Paint:
    """Floats from dark to bright; others are groups, of which the largest have colours of their own, and the others
    share the last one."""
    import matplotlib

    def rgb(names: Any) -> NDArray[np.float64]:
        return np.array([matplotlib.colors.to_rgb(name) for name in names])

    if values is None:
        return Paint(rgb(GROUP_COLORS[:1]), [])
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        numbers = np.where(finite, values, 0).astype(np.float64)
        low, high = (numbers[finite].min(), numbers[finite].max()) if finite.any() else (0.0, 0.0)
        share = np.clip((numbers / 2 - low / 2) / ((high / 2 - low / 2) or 1.0), 0, 1)
        shades = np.where(finite[:, None], matplotlib.colormaps["viridis"](share)[:, :3], rgb([MISSING]))
        missing = [] if finite.all() else [("not finite", MISSING)]
        return Paint(shades, missing, (float(low), float(high)) if finite.any() else None)
    groups, member, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(len(groups))
    last = len(GROUP_COLORS) - 1
    own = len(groups) if len(groups) <= len(GROUP_COLORS) else last
    entries = [(str(group), GROUP_COLORS[k]) for group, k in zip(groups, rank, strict=True) if k < own]
    entries += [(f"{len(groups) - own:,} others", GROUP_COLORS[last])] if own < len(groups) else []
    return Paint(rgb(GROUP_COLORS)[np.minimum(rank[member], last)], entries)


def areas(values: NDArray[Any] | None, n: int) -> NDArray[np.float64]:
    """The area of each vertex relative to the largest, [n], and large enough that all are seen."""
    if values is None:
        return np.ones(n)
    positive = _positive(values)
    return np.maximum(positive / (positive.max(initial=0) or 1.0), LEAST if n <= MANY else LEAST_OF_MANY)


def samples(values: NDArray[Any] | None) -> list[tuple[str, float]]:
    """Round numbers for the legend of sizes, as text, and the area of each."""
    if values is None or not (most := float(_positive(values).max(initial=0))):
        return []
    ticks = [tick for tick in Scale(0.0, most, whole=values.dtype.kind != "f").ticks(4) if tick > 0]
    return [(short(tick), tick / most) for tick in ticks or [most]]


def _positive(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.clip(np.nan_to_num(values.astype(np.float64)), 0, None)
