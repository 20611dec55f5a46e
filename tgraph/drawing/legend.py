"""The legend of a picture: groups or a scale of colours, and sizes, in rows below the drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tgraph.drawing.lettering import extent, shortened, style
from tgraph.markup.labels import readable
from tgraph.markup.scales import short

FONT = 8.0
BAR = 90.0  # points: the length of a scale of colours
ROW, GAP, PART = 16.0, 12.0, 30.0  # the height of a row; points between entries, and between colours and sizes
DOT = 4.0  # the radius of a group's mark
Draw = Callable[[Any, float, float], None]


@dataclass
class Entry:
    """A mark and the text behind it, and in how wide a place; `lead` points are left before it."""

    width: float
    height: float
    draw: Draw
    lead: float = GAP


def entries(
    colors: str, marks: list[tuple[str, str]], range_: tuple[float, float] | None, sizes: str,
    samples: list[tuple[str, float]], widest: float,
) -> list[Entry]:  # fmt: skip
    """What stands in the legend: the name of colours, and groups as text and colour, or a range of numbers; the name of
    sizes, and samples as text and radius."""
    found = []
    if marks or range_:
        found += [_text(colors, 0.0, widest, bold=True)] if colors else []
        found += [_scale(*range_)] if range_ else []
        found += [_mark(name, DOT, color, widest) for name, color in marks]
    if samples:
        found += [_text(sizes, PART if found else 0.0, widest, bold=True)] if sizes else []
        found += [_mark(name, radius, "#8a949e", widest) for name, radius in samples]
    return found


def rows(found: list[Entry], width: float) -> list[list[Entry]]:
    """Entries in rows of a width, but for an entry that is wider itself."""
    lines: list[list[Entry]] = []
    used = 0.0
    for entry in found:
        if not lines or used + entry.lead + entry.width > width:
            lines.append([])
            used = 0.0
        used += entry.width + (entry.lead if lines[-1] else 0.0)
        lines[-1].append(entry)
    return lines


def height(lines: list[list[Entry]]) -> float:
    """The height of a legend."""
    return sum(_tall(line) for line in lines) + (6 if lines else 0)


def draw(axes: Any, lines: list[list[Entry]], left: float, top: float) -> None:
    """Draw rows from the top, each from the left."""
    for line in lines:
        x = left
        for number, entry in enumerate(line):
            x += entry.lead if number else 0
            entry.draw(axes, x, top - _tall(line) / 2)
            x += entry.width
        top -= _tall(line)


def _tall(line: list[Entry]) -> float:
    return max(ROW, *(entry.height for entry in line))


def _text(name: str, lead: float, widest: float, bold: bool = False) -> Entry:
    text = shortened(readable(name), FONT, widest)

    def mark(axes: Any, x: float, y: float) -> None:
        shown, how = style(text, FONT)
        axes.text(x, y, shown, va="center_baseline", fontweight="bold" if bold else None, **how)

    return Entry(extent(text, FONT)[0] * (1.12 if bold else 1), ROW, mark, lead or GAP)


def _mark(name: str, radius: float, color: str, widest: float) -> Entry:
    text = _text(name, 0, widest - 2 * radius - 4)

    def mark(axes: Any, x: float, y: float) -> None:
        axes.scatter([x + radius], [y], s=4 * radius**2, c=[color], linewidths=0)
        text.draw(axes, x + 2 * radius + 4, y)

    return Entry(2 * radius + 4 + text.width, 2 * radius + 4, mark)


def _scale(low: float, high: float) -> Entry:
    first, last = _text(short(low), 0, BAR), _text(short(high), 0, BAR)

    def mark(axes: Any, x: float, y: float) -> None:
        first.draw(axes, x, y)
        box = (x + first.width + 4, x + first.width + 4 + BAR, y - 4, y + 4)
        axes.imshow(np.linspace(0, 1, 256)[None], extent=box, cmap="viridis", aspect="auto")
        last.draw(axes, box[1] + 4, y)

    return Entry(first.width + last.width + BAR + 8, ROW, mark)
