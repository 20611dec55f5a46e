"""A picture of a graph inside a page: single vertices and edges while distinguishable, and densities beyond."""

from __future__ import annotations

import io
from html import escape

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import tgraph as tg
from tgraph.core.system.text import counted
from tgraph.drawing.arranged import arranged
from tgraph.drawing.density import edge_density, frame
from tgraph.drawing.paint import GROUP_COLORS, areas
from tgraph.markup.labels import Markup, isolated
from tgraph.markup.page import Figure, Section, data_image
from tgraph.pages.study import Study

SINGLE_EDGES = 2000  # drawn as lines
NAMED = 40  # vertices with labels
FAR = 0.002  # fraction of outlying vertices to each side
DRAWN = 60_000  # edges in a picture of densities
WORK = 60_000_000  # budget of a layout: arcs plus twenty times vertices, in all iterations
LARGEST = 4_000_000  # arcs plus twenty times vertices of a graph with an affordable iteration
FEW_ITERATIONS, DEEP = 40, 50
PIXELS, WIDTH = 1200, 760
COLORS = (*GROUP_COLORS[:5], "#8792a0")  # the last for all smaller groups
DOTS = 20_000  # largest vertices, drawn as disks; the others are points


def picture(study: Study) -> Section:
    """The graph by ForceAtlas2, communities in colours, vertices by PageRank."""
    graph = study.simple
    work = graph.num_arcs + 20 * graph.num_vertices
    if work > 20 * LARGEST:
        return Section("picture", "Drawing", notes=["Left out: the graph is too large for a layout in seconds."])
    iterations = min(300, WORK // max(work, 1))
    if iterations < FEW_ITERATIONS and _is_deep(study):
        iterations = 0
    place = arranged(graph, iterations=iterations, seed=study.seed).cpu().numpy()
    keep = _shown(study, place)
    points, group = place[keep], _groups(study.community)[keep]
    area = areas(study.rank.cpu().numpy(), len(place))[keep]
    src, dst, some = _edges(study, keep)
    title = "The graph"
    how = f"by ForceAtlas2 in {iterations:,} iterations" if iterations else "by the distances from 30 vertices"
    caption = f"Placed {how}; colours are the largest communities, areas PageRank."
    if len(src) <= SINGLE_EDGES:
        view = _vectors(study, points, src, dst, group, area, keep)
    else:
        view = _pixels(points, src, dst, group, area)
    notes = [f"A sample of {len(src):,} edges is drawn."] if some else []
    alone = (study.simple.out_degree == 0).cpu().numpy()
    left = {"without neighbours": int((alone & ~keep).sum()), "far from the others": int((~alone & ~keep).sum())}
    notes += [f"Not drawn: {count:,} vertices {why}." for why, count in left.items() if count]
    return Section("picture", "Drawing", figures=[Figure(title, {"": view}, caption, wide=True)], notes=notes)


def _is_deep(study: Study) -> bool:
    """True if vertices are many hops apart, as in a road network: an embedding by distances unfolds it, and a few
    iterations of forces would only blur that."""
    hub = int(study.simple.out_degree.argmax())
    return int(tg.algorithms.bfs(study.simple, hub).max()) > DEEP


def _shown(study: Study, place: NDArray) -> NDArray:
    """Mask of the drawn vertices: with neighbours (or all without any), of many vertices without outliers."""
    joined = (study.simple.out_degree > 0).cpu().numpy()
    shown = joined if joined.any() else np.ones(len(place), dtype=bool)
    if shown.sum() > SINGLE_EDGES:
        low, high = np.quantile(place[shown], FAR, axis=0), np.quantile(place[shown], 1 - FAR, axis=0)
        margin = 0.1 * (high - low)
        shown &= ((place >= low - margin) & (place <= high + margin)).all(1)
    return shown


def _groups(community: Tensor) -> NDArray[np.int64]:
    """The colour of each vertex: 0 for the largest community, and the last one for all small ones."""
    _, member, count = community.cpu().unique(return_inverse=True, return_counts=True)
    rank = torch.empty_like(count)
    rank[count.argsort(descending=True, stable=True)] = torch.arange(len(count))
    return rank[member].clamp(max=5).numpy()


def _edges(study: Study, keep: NDArray) -> tuple[NDArray, NDArray, bool]:
    """(sources, targets, whether they are a sample) of the edges among the drawn vertices."""
    graph = study.simple
    src = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.out_degree.cpu())
    dst = graph.neighbors.cpu().long()
    drawn = torch.from_numpy(keep)
    once = ((src < dst) & drawn[src] & drawn[dst]).nonzero()[:, 0]
    sampled = len(once) > DRAWN
    if sampled:
        once = once[torch.randperm(len(once), generator=torch.Generator().manual_seed(study.seed))[:DRAWN]]
    number = np.cumsum(keep) - 1
    return number[src[once].numpy()], number[dst[once].numpy()], sampled


def _vectors(
    study: Study, points: NDArray, src: NDArray, dst: NDArray, group: NDArray, area: NDArray, keep: NDArray
) -> Markup:
    """The picture as SVG: lines and dots with names."""
    low, high = frame(points)
    scale = WIDTH / (high[0] - low[0])
    height = (high[1] - low[1]) * scale
    at = (points - low) * scale
    at[:, 1] = height - at[:, 1]
    lines = "".join(
        f"M{at[u, 0]:.1f} {at[u, 1]:.1f}L{at[v, 0]:.1f} {at[v, 1]:.1f}" for u, v in zip(src, dst, strict=True)
    )
    marks = [f'<path class="edge" d="{lines}"/>']
    largest = min(14.0, 60 / max(len(points), 1) ** 0.4)
    names = study.graph.ids(torch.from_numpy(np.flatnonzero(keep)))
    names = names.tolist() if isinstance(names, Tensor) else names
    degree = study.graph.out_degree.cpu()[torch.from_numpy(keep)].tolist()
    for i in np.argsort(-area, kind="stable").tolist():
        radius = max(largest * area[i] ** 0.5, 2.2)
        tip = escape(f"{isolated(names[i])}: degree {degree[i]:,}")
        marks.append(
            f'<circle class="vertex {"abcdef"[group[i]]}" cx="{at[i, 0]:.1f}" cy="{at[i, 1]:.1f}" r="{radius:.1f}">'
            f"<title>{tip}</title></circle>"
        )
        if len(points) <= NAMED:
            marks.append(
                f'<text class="tick" x="{at[i, 0]:.1f}" y="{at[i, 1] - radius - 4:.1f}" text-anchor="middle">'
                f"{escape(isolated(_brief(names[i])))}</text>"
            )
    said = f"Drawing of the graph: {counted(len(points), 'vertex')} and {counted(len(src), 'edge')}"
    side, above = (90, 24) if len(points) <= NAMED else (0, 0)  # room for names
    box = f"{-side} {-above} {WIDTH + 2 * side} {height + 2 * above:.0f}"
    return Markup(f'<svg class="drawing" viewBox="{box}" role="img" aria-label="{said}">{"".join(marks)}</svg>')


def _brief(name: object) -> str:
    text = str(name)
    return text if len(text) <= 18 else f"{text[:17]}…"


def _pixels(points: NDArray, src: NDArray, dst: NDArray, group: NDArray, area: NDArray) -> Markup:
    """The picture as PNG with a transparent background: the density of edges in grey, vertices over it."""
    from PIL import Image

    low, high = frame(points)
    density = edge_density(points, src, dst, low, high, PIXELS)
    height, width = density.shape
    pixels = np.full((height, width, 4), 128, dtype=np.uint8)  # a grey that is seen on white and on black
    pixels[..., 3] = np.clip(density * 200, 0, 255)
    scale = width / (high[0] - low[0])
    at = np.clip(((points - low) * scale).astype(np.int64), 0, [width - 1, height - 1])
    palette = np.array([[*bytes.fromhex(name[1:]), 255] for name in COLORS], dtype=np.uint8)
    largest = min(9.0, 500 / max(len(points), 1) ** 0.5)
    radius = np.round(largest * area**0.5).astype(np.int64)
    order = np.argsort(area, kind="stable")
    small = order[radius[order] == 0]
    pixels[at[small, 1], at[small, 0]] = palette[group[small]]
    for i in order[radius[order] > 0][-DOTS:].tolist():
        _dot(pixels, int(at[i, 0]), int(at[i, 1]), int(radius[i]), palette[group[i]])
    buffer = io.BytesIO()
    Image.fromarray(pixels[::-1]).save(buffer, "PNG")
    said = f"Drawing of the graph: {len(points):,} vertices, and the density of edges"
    return data_image(buffer.getvalue(), said, width, height)


def _dot(pixels: NDArray, x: int, y: int, radius: int, color: NDArray) -> None:
    """Draw a disk, clipped to the picture."""
    left, low = max(0, x - radius), max(0, y - radius)
    patch = pixels[low : y + radius + 1, left : x + radius + 1]
    rows, columns = np.ogrid[: patch.shape[0], : patch.shape[1]]
    patch[(rows + low - y) ** 2 + (columns + left - x) ** 2 <= radius**2 + 0.5] = color
