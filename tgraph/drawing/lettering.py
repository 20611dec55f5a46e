"""Text on pictures: fonts that have its characters, its size, lines that are not too wide, and labels that neither
leave the frame nor cover each other."""

from __future__ import annotations

import functools
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL = 2.0  # points: the side of a cell in which ink is counted
BOXES = "Last Resort"  # a font of boxes for all characters
LINE = 1.25  # the height of a line, of the size of the font


@functools.cache
def _fonts(path: str) -> frozenset[int]:
    """The characters that a font has; none if it cannot be drawn with."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


@functools.lru_cache(1 << 12)
def lettered(text: str) -> tuple[str, tuple[str, ...]]:
    """(text, families of fonts that together have its characters); those that no installed font has are escaped."""
    from matplotlib import font_manager

    usual = font_manager.FontProperties()
    families, missing = list(usual.get_family()), {ord(c) for c in text} - {10}
    missing -= _fonts(font_manager.findfont(usual))
    for entry in font_manager.fontManager.ttflist if missing else ():
        usable = entry.style == "normal" and entry.name not in families and not entry.name.startswith(BOXES)
        if usable and (found := missing & _fonts(entry.fname)):
            families.append(entry.name)
            missing -= found
    shown = "".join(c.encode("unicode_escape").decode() if ord(c) in missing else c for c in text)
    return unicodedata.normalize("NFC", shown), tuple(families)


def style(text: str, points: float) -> tuple[str, dict[str, Any]]:
    """The text, and keywords of matplotlib for it: of a size in points, without formulas."""
    shown, families = lettered(text)
    return shown, {"fontsize": points, "fontfamily": list(families), "parse_math": False}


@functools.lru_cache(1)
def _renderer() -> Any:
    from matplotlib.backends.backend_agg import RendererAgg

    return RendererAgg(1, 1, 720)  # ten pixels in a point


def extent(text: str, points: float) -> tuple[float, float]:
    """(width, height) of a text in points of 1/72 inch."""
    from matplotlib.font_manager import FontProperties

    shown, families = lettered(text)
    font = FontProperties(family=list(families), size=points)
    lines = shown.split("\n")
    widths = (_renderer().get_text_width_height_descent(line or " ", font, False)[0] / 10 for line in lines)
    return max(widths), len(lines) * LINE * points


def wrapped(text: str, points: float, width: float, most: int) -> list[str]:
    """Lines of a text no wider than `width` points, at most `most` of them; the last one says if there is more."""
    lines = [""]
    for number, paragraph in enumerate(text.split("\n")):
        lines += [""] if number else []
        for word in paragraph.split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if not lines[-1] or extent(longer, points)[0] <= width:
                lines[-1] = longer
            else:
                lines.append(word)
    shown = [shortened(line, points, width) for line in lines[:most]]
    return shown if len(lines) <= most else [*shown[:-1], shortened(f"{shown[-1]}…", points, width)]


def shortened(text: str, points: float, width: float) -> str:
    """A text that is no wider, by an ellipsis in place of its end."""
    if extent(text, points)[0] <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if extent(f"{text[:middle]}…", points)[0] <= width else (low, middle - 1)
    return f"{text[:low]}…"


class Ink:
    """How much is drawn in each cell of a page, in sums over rectangles."""

    def __init__(self, width: float, height: float, lines: list[NDArray], at: NDArray, radius: NDArray):
        self.shape = int(np.ceil(height / CELL)) + 1, int(np.ceil(width / CELL)) + 1
        ink = np.zeros(self.shape)
        starts = np.concatenate([line[:-1] for line in lines]) if lines else np.zeros((0, 2))
        ends = np.concatenate([line[1:] for line in lines]) if lines else starts
        steps = np.maximum(np.ceil(np.abs(ends - starts).max(1, initial=0) / CELL), 1).astype(np.int64)
        piece = np.repeat(np.arange(len(steps)), steps)
        share = (np.arange(len(piece)) - np.repeat(np.cumsum(steps) - steps, steps) + 0.5) / steps[piece]
        self._add(ink, starts[piece] + (ends - starts)[piece] * share[:, None], 1.0)
        around = np.array([(x, y) for x in (-0.7, 0, 0.7) for y in (-0.7, 0, 0.7)])
        self._add(ink, (at[:, None] + around * radius[:, None, None]).reshape(-1, 2), 8.0)
        self.sums = np.pad(ink.cumsum(0).cumsum(1), ((1, 0), (1, 0)))

    def _add(self, ink: NDArray, places: NDArray, amount: float) -> None:
        row, column = self._cells(places)
        np.add.at(ink, (row, column), amount)

    def _cells(self, places: NDArray) -> tuple[NDArray, NDArray]:
        cells = (places / CELL).astype(np.int64)
        return np.clip(cells[:, 1], 0, self.shape[0] - 1), np.clip(cells[:, 0], 0, self.shape[1] - 1)

    def within(self, boxes: NDArray) -> NDArray:
        """The ink in each box (left, low, right, high) [boxes, 4]."""
        low, left = self._cells(boxes[:, :2])
        high, right = self._cells(boxes[:, 2:])
        above, below = (self.sums[row, right + 1] - self.sums[row, left] for row in (high + 1, low))
        return above - below


# Where a label may be, from its vertex: above first, as readers expect it.
SIDES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)])
PREFERENCE = np.array([0.0, 1.5, 1.0, 2.0, 2.0, 2.5, 2.5, 3.0])


def placed(
    at: NDArray, radius: NDArray, sizes: NDArray, order: NDArray, ink: Ink, low: NDArray, high: NDArray
) -> NDArray:
    """Boxes (left, low, right, high) [n, 4] of labels of the `sizes` [n, 2] beside their vertices, each where the
    least is drawn, within the frame from `low` to `high`, and none on another. The first in `order` choose first; where
    there is no room for a label its box is NaN."""
    boxes = np.full((len(at), 4), np.nan)
    taken = np.empty((0, 4))
    for vertex in order.tolist():
        rim = SIDES / np.hypot(*SIDES.T)[:, None] * (radius[vertex] + 1.5)
        centre = at[vertex] + rim + SIDES * sizes[vertex] / 2
        tried = np.concatenate((centre - sizes[vertex] / 2, centre + sizes[vertex] / 2), 1)
        free = (tried[:, :2] >= low).all(1) & (tried[:, 2:] <= high).all(1)
        apart = (tried[:, None, :2] >= taken[:, 2:]) | (taken[:, :2] >= tried[:, None, 2:])
        free &= np.all(np.any(apart, axis=2), axis=1)
        if free.any():
            cost = ink.within(tried) / max(sizes[vertex].prod() / CELL**2, 1) * 40 + PREFERENCE
            boxes[vertex] = tried[np.where(free, cost, np.inf).argmin()]
            taken = np.concatenate((taken, boxes[vertex][None]))
    return boxes
