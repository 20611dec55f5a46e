"""Pictures of graphs: single vertices and edges while distinguishable, and densities beyond."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.drawing.density import edge_density
from tgraph.drawing.force import forceatlas2
from tgraph.drawing.page import page
from tgraph.errors import ArgumentError
from tgraph.files.atomic_write import replacing
from tgraph.markup.labels import readable

SEPARATE_EDGES = 5000  # more are not distinguishable
LABELLED = 60  # vertices with labels
FORMATS = (".png", ".svg", ".pdf", ".html")
TEXT: dict[str, Any] = {"parse_math": False}  # of labels and titles, which may have dollars

# Colours of groups, distinct for the colour-blind (Okabe and Ito, 2008).
GROUP_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b59f00", "#555555")


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    color: Any = None,
    size: Any = None,
    positions: Tensor | None = None,
    labels: bool | None = None,
    title: str = "",
    inches: float = 10.0,
    seed: int = 0,
) -> Tensor:
    """Draw `graph` into a file .png, .svg, .pdf, or .html, an interactive page; returns the positions, float64 [n, 2].

    `color`: integers [n], groups such as communities, or floats [n] from dark to bright. `size`: numbers [n], such as
    ranks, proportional to the areas of vertices. `positions` [n, 2]: of the vertices (default: ForceAtlas2 with the
    `seed`). `labels`: write the vertices' ids (default: for up to 60). Beyond some thousand edges a picture shows the
    density of edges, and the vertices over it as points. `title`: the heading. `inches`: the width of the picture.

    Raises ArgumentError for another kind of file, vertex data of another shape, and infinite positions.

    >>> graph = tg.generators.famous("karate_club")
    >>> communities = tg.algorithms.louvain(graph)
    >>> positions = tg.draw(graph, "karate.png", color=communities, size=tg.algorithms.pagerank(graph))
    >>> positions.shape
    torch.Size([34, 2])
    """
    file = Path(path)
    if file.suffix.lower() not in FORMATS:
        raise ArgumentError(f"path: {file.name} has none of the extensions {', '.join(FORMATS)}")
    n = graph.num_vertices
    place = forceatlas2(graph, iterations=_iterations(graph), seed=seed) if positions is None else positions
    if place.shape != (n, 2):
        raise ArgumentError(f"positions: expected [{n}, 2], got {list(place.shape)}")
    lost = (~place.isfinite().all(1)).nonzero()
    if len(lost):
        raise ArgumentError(f"positions: row {int(lost[0])} is {place[lost[0, 0]].tolist()}; give finite numbers")
    points = place.detach().cpu().to(torch.float64).numpy()
    paint = _colors(_column(color, n, "color"))
    area = areas(_column(size, n, "size"), n)
    named = n <= LABELLED if labels is None else labels
    names = [readable(name, lines=True) for name in _names(graph)] if named else None
    src, dst = _edges(graph)
    with replacing(file) as temporary:
        if file.suffix.lower() == ".html":
            temporary.write_text(page(points, src, dst, paint, area, _names(graph), title), encoding="utf-8")
        else:
            _picture(temporary, file.suffix[1:].lower(), points, src, dst, paint, area, names, title, inches)
    return place


def _iterations(graph: Graph) -> int:
    """ForceAtlas2's iterations: fewer for large graphs."""
    return 300 if graph.num_arcs < 20_000 else 150 if graph.num_arcs < 500_000 else 60


def _edges(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of each edge once."""
    plain = graph.decoded()
    src = torch.repeat_interleave(torch.arange(graph.num_vertices, device=graph.device), plain.out_degree)
    dst = plain.neighbors.to(torch.int64)
    once = src != dst if graph.directed else src < dst
    return src[once].cpu().numpy(), dst[once].cpu().numpy()


def _names(graph: Graph) -> list[Any]:
    names = graph.ids(torch.arange(graph.num_vertices))
    return names.tolist() if isinstance(names, Tensor) else list(names)


def _column(values: Any, n: int, name: str) -> NDArray[Any] | None:
    if values is None:
        return None
    column = np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)
    if column.shape != (n,) or column.dtype.kind not in "biuf":
        raise ArgumentError(f"{name}: expected {n} numbers, one for each vertex, got {column.dtype} {column.shape}")
    return column


def _colors(values: NDArray[Any] | None) -> NDArray[np.float64]:
    """Red, green and blue in 0..1 of each vertex, [n, 3], or [1, 3] without values."""
    import matplotlib

    if values is None:
        return np.array([matplotlib.colors.to_rgb(GROUP_COLORS[0])])
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)].astype(np.float64)
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
        share = (values.astype(np.float64) - low) / ((high - low) or 1.0)
        return matplotlib.colormaps["viridis"](np.nan_to_num(share, posinf=0.0, neginf=0.0))[:, :3]
    # the largest groups have colours of their own, the others share the last one
    groups, member, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(len(groups))
    palette = np.array([matplotlib.colors.to_rgb(name) for name in GROUP_COLORS])
    return palette[np.minimum(rank[member], len(palette) - 1)]


def areas(values: NDArray[Any] | None, n: int) -> NDArray[np.float64]:
    """The area of each vertex relative to the largest, [n]."""
    if values is None:
        return np.ones(n)
    positive = np.clip(np.nan_to_num(values.astype(np.float64)), 0, None)
    return 0.03 + 0.97 * positive / (positive.max(initial=0) or 1.0)


def _picture(
    file: Path,
    kind: str,
    points: NDArray,
    src: NDArray,
    dst: NDArray,
    paint: NDArray,
    area: NDArray,
    names: list[str] | None,
    title: str,
    inches: float,
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    low, high = frame(points)
    width, height = high - low
    figure = Figure(figsize=(inches, inches * height / width))
    axes = figure.add_axes((0, 0, 1, 0.95 if title else 1))
    axes.set_axis_off()
    largest = min(250.0, 2e4 / max(len(points), 1) ** 0.85) * (inches / 10) ** 2
    if len(src) <= SEPARATE_EDGES:
        lines = LineCollection(points[np.stack((src, dst), 1)], colors="#7b8794", linewidths=0.7, zorder=1)
        axes.add_collection(lines)
    else:
        pixels = int(inches * 150)
        density = edge_density(points, src, dst, low, high, pixels)
        extent = (low[0], high[0], low[1], high[1])
        axes.imshow(density, extent=extent, origin="lower", cmap="Greys", vmin=0, vmax=1.4, zorder=0, aspect="auto")
    order = np.argsort(area, kind="stable")  # the largest above the others
    colors = paint[order] if len(paint) > 1 else paint
    axes.scatter(
        points[order, 0],
        points[order, 1],
        s=np.maximum(largest * area[order], 0.3),
        c=colors,
        edgecolors="white",
        linewidths=0.5 if len(src) <= SEPARATE_EDGES else 0,
        zorder=2,
        rasterized=len(points) > SEPARATE_EDGES,
    )
    above = np.sqrt(largest * area / np.pi) + 2  # points: the radius of each vertex, and a gap
    for name, (x, y), up in zip(names or (), points, above, strict=False):
        axes.annotate(
            name, (x, y), xytext=(0, up), textcoords="offset points", ha="center", fontsize=8, zorder=3, **TEXT
        )
    if title:
        figure.suptitle(readable(title, lines=True), y=0.985, fontsize=13, **TEXT)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    figure.savefig(file, format=kind, dpi=150, facecolor="white")


def frame(points: NDArray) -> tuple[NDArray, NDArray]:
    """The lower left and upper right corner of a picture of the points, with an aspect ratio from 2:3 to 2:1."""
    low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(2), np.ones(2))
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-9)
    half = half + 0.05 * half.max()
    half = np.maximum(half, (half[1] / 1.5, half[0] / 2))
    return middle - half, middle + half
