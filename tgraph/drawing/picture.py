"""Pictures of graphs in files: single vertices and edges while distinguishable, and densities beyond.

A sheet holds where everything is, in points of 1/72 inch from its lower left corner; matplotlib draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tgraph.drawing import legend
from tgraph.drawing.density import edge_density
from tgraph.drawing.lettering import Ink, extent, placed, shortened, style, wrapped
from tgraph.drawing.links import Links, links, loop_room
from tgraph.drawing.paint import Paint
from tgraph.markup.labels import readable

SEPARATE_EDGES = 5000  # more are not distinguishable
FONT, TITLE = 8.0, 13.0  # points
LABEL = 140.0  # points: longer labels are shortened
MARGIN = 8.0
EDGE = "#7b8794"
SAMPLE = 512  # vertices whose nearest ones decide how large vertices are


@dataclass
class Scene:
    """What is drawn: `points` [n, 2], edges `src` -> `dst`, the colours and relative areas of vertices, what they mean,
    the names of all vertices if they are to be written, and the `columns` that a page tells of each."""

    points: NDArray
    src: NDArray
    dst: NDArray
    directed: bool
    paint: Paint
    area: NDArray
    samples: list[tuple[str, float]]
    names: list[Any] = field(default_factory=list)
    title: str = ""
    meanings: tuple[str, str] | None = ("color", "size")
    columns: dict[str, NDArray | None] = field(default_factory=dict)

    @property
    def separate(self) -> bool:
        """Whether single edges are drawn."""
        return len(self.src) <= SEPARATE_EDGES


@dataclass
class Sheet:
    """`at` [n, 2] and `radius` [n] of vertices, `links`, the labels with their `boxes` (left, low, right, high) [n, 4],
    NaN for those without room, and the frame of the drawing from `low` to `high`."""

    width: float
    height: float
    low: NDArray
    high: NDArray
    at: NDArray
    radius: NDArray
    links: Links | None
    texts: list[str]
    boxes: NDArray
    title: list[str]
    legend: list[list[legend.Entry]] = field(default_factory=list)


def sheet(scene: Scene, inches: float) -> Sheet:
    """The places of everything on a page of a width in `inches`."""
    width = 72 * inches
    room = width - 2 * MARGIN
    title = wrapped(readable(scene.title, lines=True, longest=400), TITLE, room, 4) if scene.title else []
    relative = np.sqrt(scene.area)
    alike = scene.area.min(initial=1) == 1
    largest = min(8.0, max(70 / max(len(scene.points), 1) ** 0.425, 0 if alike else 3.5)) * min(1, (inches / 10) ** 0.5)
    margin = MARGIN + max(largest, loop_room(largest * relative, scene.src, scene.dst) if scene.separate else 0)
    at, tall = _fitted(scene.points, width, min(margin + (FONT if scene.names else 0), width / 4))
    if alike:
        largest = max(min(largest, 0.33 * _nearest(at)), min(largest, 0.9))
    radius = largest * relative
    lines = legend.rows(_explained(scene, largest, room), room)
    below = legend.height(lines)
    at[:, 1] += below
    low, high = np.array((2.0, below + 2)), np.array((width - 2, below + tall - 2))
    head = min(max(60 / max(len(scene.src), 1) ** 0.5, 3.0), 8.0) if scene.directed else 0.0
    found = links(at, radius, scene.src, scene.dst, head) if scene.separate else None
    texts = [_brief(readable(name, lines=True), min(LABEL, width / 3)) for name in scene.names]
    boxes = np.full((len(at), 4), np.nan)
    if texts:
        ink = Ink(width, below + tall, [*found.lines, *found.heads] if found else [], at, radius)
        degree = np.bincount(np.concatenate((scene.src, scene.dst)), minlength=len(at))
        sizes, order = np.array([extent(text, FONT) for text in texts]), np.lexsort((-degree, -scene.area))
        boxes = placed(at, radius, sizes, order, ink, low, high)
    above = len(title) * TITLE * 1.25 + MARGIN if title else 0.0
    return Sheet(width, below + tall + above, low, high, at, radius, found, texts, boxes, title, lines)


def _explained(scene: Scene, largest: float, widest: float) -> list[legend.Entry]:
    """The legend of a scene whose largest vertex has this radius."""
    if scene.meanings is None:
        return []
    color, size = scene.meanings
    samples = [(name, largest * area**0.5) for name, area in scene.samples]
    return legend.entries(color, scene.paint.entries, scene.paint.range, size, samples, widest)


def _brief(name: str, widest: float) -> str:
    """A label of at most three lines."""
    return "\n".join(shortened(line, FONT, widest) for line in name.split("\n")[:3])


def _fitted(points: NDArray, width: float, margin: float) -> tuple[NDArray, float]:
    """(points on a page of a width with a margin on all sides, its height: a third to three halves of the width)."""
    low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(2), np.ones(2))
    middle, extents = low / 2 + high / 2, np.maximum(high - low, 1e-9 * max(float((high - low).max()), 1e-9))
    tall = min(max((width - 2 * margin) * extents[1] / extents[0] + 2 * margin, width / 3), 1.5 * width)
    scale = ((np.array((width, tall)) - 2 * margin) / extents).min()
    return (points - middle) * scale + np.array((width, tall)) / 2, tall


def _nearest(at: NDArray) -> float:
    """The distance to the nearest other vertex, which three of four vertices keep."""
    some = at[:: max(1, len(at) // SAMPLE)]
    far = np.hypot(*(some[:, None] - at).transpose(2, 0, 1))
    far[far == 0] = np.inf
    nearest = far.min(1, initial=np.inf)
    return float(np.quantile(nearest, 0.25)) if np.isfinite(nearest).any() else np.inf


def figure(scene: Scene, sheet: Sheet) -> Any:
    """The figure of matplotlib; a unit of its axes is a point."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    page = Figure(figsize=(sheet.width / 72, sheet.height / 72))
    axes = page.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    m = max(len(scene.src), 1)
    if sheet.links:
        width, faint = min(max(14 / m**0.5, 0.35), 0.9), min(max(25 / m**0.5, 0.5), 1.0)
        axes.add_collection(LineCollection(sheet.links.lines, colors=EDGE, linewidths=width, alpha=faint, zorder=1))
        axes.add_collection(
            PolyCollection(list(sheet.links.heads), facecolors=EDGE, linewidths=0, alpha=faint, zorder=3)
        )
    else:
        density = edge_density(sheet.at, scene.src, scene.dst, sheet.low, sheet.high, int(sheet.width / 72 * 150))
        box = (sheet.low[0], sheet.high[0], sheet.low[1], sheet.high[1])
        axes.imshow(density, extent=box, origin="lower", cmap="Greys", vmin=0, vmax=1.4, zorder=0, aspect="auto")
    order = np.argsort(scene.area, kind="stable")  # the largest above the others
    rgb = scene.paint.rgb
    axes.scatter(
        sheet.at[order, 0],
        sheet.at[order, 1],
        s=np.maximum(4 * sheet.radius[order] ** 2, 0.3),
        c=rgb[order] if len(rgb) > 1 else rgb,
        edgecolors="white",
        linewidths=0.5 if sheet.links and sheet.radius.max(initial=0) > 2 else 0,
        zorder=2,
        rasterized=len(order) > SEPARATE_EDGES,
    )
    _write(axes, sheet)
    legend.draw(axes, sheet.legend, MARGIN, legend.height(sheet.legend))
    axes.set_xlim(0, sheet.width)
    axes.set_ylim(0, sheet.height)
    axes.set_aspect("auto")
    return page


def _write(axes: Any, sheet: Sheet) -> None:
    """Labels, with a white rim that parts them from edges, and the title."""
    from matplotlib.patheffects import Stroke

    for text, box in zip(sheet.texts, sheet.boxes, strict=False):
        if np.isfinite(box).all():
            x, y = (box[:2] + box[2:]) / 2
            shown, how = style(text, FONT)
            how |= {"ha": "center", "va": "center"}
            axes.text(x, y, shown, zorder=4, path_effects=[Stroke(linewidth=2.2, foreground="white")], **how)
            axes.text(x, y, shown, zorder=5, **how)
    for number, line in enumerate(sheet.title):
        shown, how = style(line, TITLE)
        y = sheet.height - MARGIN - (number + 0.5) * 1.25 * TITLE
        axes.text(sheet.width / 2, y, shown, ha="center", va="center", **how)
