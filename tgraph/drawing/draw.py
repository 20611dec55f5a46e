"""Pictures of graphs, as files to look at and as pages to look around in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.drawing import paint, picture
from tgraph.drawing.arranged import arranged
from tgraph.drawing.page import page
from tgraph.drawing.paint import areas, colors, column, coordinates, samples
from tgraph.errors import ArgumentError
from tgraph.files.atomic_write import replacing

LABELLED = 60  # vertices with labels
FORMATS = (".png", ".svg", ".pdf", ".html")


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    color: Any = None,
    size: Any = None,
    positions: Tensor | Mapping[str, Any] | tuple[str, str] | None = None,
    labels: bool | None = None,
    title: str = "",
    legend: bool | Mapping[str, str] = True,
    inches: float = 10.0,
    seed: int = 0,
) -> Tensor:
    """Draw `graph` into a file .png, .svg, .pdf, or .html, an interactive page; returns the positions, float64 [n, 2].

    `color`: integers or texts [n], groups such as communities, or floats [n] from dark to bright, grey where they are
    not finite. `size`: numbers [n], such as ranks, proportional to the areas of vertices, but for those that would
    not be seen. Either may be the name of one of the graph's `vertex_columns`. `positions`: [n, 2], or columns {"x":
    [n], "y": [n]} or, in degrees, {"longitude": [n], "latitude": [n]}, as a map has them, or the names of two of the
    graph's, such as ("lon", "lat") (default: stress majorization of components of up to 500 vertices, ForceAtlas2
    of larger ones, packed side by side; the `seed` is theirs). `labels`: write the vertices' ids (default: for up to
    60), those of large vertices and of many neighbours first; where there is no room, a label is left out. `title`: the
    heading, in several lines if it is long. `legend`: what colours and sizes mean, such as {"color": "distance [km]",
    "size": "inhabitants"}; False leaves it out. `inches`: the width of the picture.

    Edges have arrows if they have directions, and parallel ones are bent apart. Beyond some thousand edges a picture
    shows the density of edges, and the vertices over it as points.

    Raises ArgumentError for another kind of file, vertex data of another shape, infinite positions, latitudes beyond 90
    degrees, and a legend of something else.

    >>> graph = tg.generators.famous("karate_club")
    >>> communities = tg.algorithms.louvain(graph)
    >>> positions = tg.draw(graph, "karate.png", color=communities, size=tg.algorithms.pagerank(graph))
    >>> positions.shape
    torch.Size([34, 2])
    """
    file = Path(path)
    if file.suffix.lower() not in FORMATS:
        raise ArgumentError(f"path: {file.name} has none of the extensions {', '.join(FORMATS)}")
    html = file.suffix.lower() == ".html"
    drawn, place = scene(graph, color, size, positions, True if html else labels, title, legend, seed)
    with replacing(file) as temporary:
        if html:
            temporary.write_text(page(drawn), encoding="utf-8")
        else:
            figure = picture.figure(drawn, picture.sheet(drawn, inches))
            figure.savefig(temporary, format=file.suffix[1:].lower(), dpi=150, facecolor="white")
    return place


def scene(
    graph: Graph,
    color: Any = None,
    size: Any = None,
    positions: Any = None,
    labels: bool | None = None,
    title: str = "",
    legend: bool | Mapping[str, str] = True,
    seed: int = 0,
) -> tuple[picture.Scene, Tensor]:
    """The scene that `draw` draws, and the positions. Raises ArgumentError as `draw` does."""
    n = graph.num_vertices
    shades, sizes = column(graph, color, "color", "biufU"), column(graph, size, "size")
    meanings = _meanings(legend, color, size)
    if positions is None:
        positions = arranged(graph, iterations=_iterations(graph), seed=seed)
    points = coordinates(graph, positions)
    named = n <= LABELLED if labels is None else labels
    names = graph.ids(torch.arange(n)) if named else []
    drawn = picture.Scene(
        points,
        *_edges(graph),
        graph.directed,
        colors(shades),
        areas(sizes, n),
        samples(sizes),
        names.tolist() if isinstance(names, Tensor) else list(names),
        title,
        meanings,
        {"color": shades, "size": sizes} | _others(graph, color, size),
    )
    return drawn, positions if isinstance(positions, Tensor) else torch.from_numpy(points).to(graph.device)


def _iterations(graph: Graph) -> int:
    """ForceAtlas2's iterations: fewer for large graphs."""
    return 300 if graph.num_arcs < 20_000 else 150 if graph.num_arcs < 500_000 else 60


def _meanings(legend: bool | Mapping[str, str], *data: Any) -> tuple[str, str] | None:
    """The names of colours and sizes, the `data`, in the legend, columns by their own; None without one."""
    color, size = (each if isinstance(each, str) else name for name, each in zip(("color", "size"), data, strict=True))
    if isinstance(legend, bool):
        return (color, size) if legend else None
    other = set(legend) - {"color", "size"}
    if other:
        raise ArgumentError(f"legend: {min(other)!r} is neither 'color' nor 'size'")
    return legend.get("color", color), legend.get("size", size)


def _others(graph: Graph, *shown: Any) -> dict[str, Any]:
    """The columns of one number or text for each vertex that a page tells besides those `shown`."""
    names = graph.vertex_columns.keys() - {each for each in shown if isinstance(each, str)} - {"color", "size"}
    held = {name: paint.named(graph, name, "columns") for name in graph.vertex_columns if name in names}
    return {name: paint.array(each) for name, each in held.items() if each.ndim == 1}


def _edges(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of each edge once."""
    plain = graph.decoded()
    src = torch.repeat_interleave(torch.arange(graph.num_vertices, device=graph.device), plain.out_degree)
    dst = plain.neighbors.to(torch.int64)
    once = slice(None) if graph.directed else src <= dst
    return src[once].cpu().numpy(), dst[once].cpu().numpy()
