"""Charts as SVG inside a page: colours are classes of its style, so that they follow light and dark mode, text is text,
and every mark has a title as a tooltip.

matplotlib draws the pictures in files; its SVG has inline styles, disabled by a Content-Security-Policy, and no titles
of marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Literal

from tgraph.markup.labels import Markup
from tgraph.markup.scales import Scale, short

LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 44  # margins for text around a chart


class Chart:
    """A chart with an axis `x` to the right and `y` upwards, of `width` times `height` units of 1/96 inch.

    title, description : alternative text. x_name, y_name : labels of the axes. Series are distinguished by `kind`, a
    class of the page's style: "a" to "f", "push", "pull", "line" ...
    """

    def __init__(
        self,
        title: str,
        description: str,
        x: Scale,
        y: Scale,
        x_name: str,
        y_name: str,
        *,
        width: int = 400,
        height: int = 270,
    ):
        self.title, self.description, self.x, self.y = title, description, x, y
        self.width, self.height = width, height
        self._marks: list[str] = []
        self._axes(x_name, y_name)

    def points(self, at: Iterable[tuple[float, float]], kind: str, tips: Iterable[str], radius: float = 2.6) -> None:
        """A dot at each (x, y), with its tip."""
        for (x, y), tip in zip(at, tips, strict=True):
            self._marks.append(f'<circle class="{kind}" {self._dot(x, y)} r="{radius}">{_tip(tip)}</circle>')

    def line(self, at: Sequence[tuple[float, float]], kind: str, tip: str = "") -> None:
        """A line through all (x, y)."""
        if at:
            path = " ".join(f"{self._right(x):.1f},{self._down(y):.1f}" for x, y in at)
            self._marks.append(f'<polyline class="line {kind}" points="{path}">{_tip(tip)}</polyline>')

    def bars(self, spans: Iterable[tuple[float, float, float]], kind: str, tips: Iterable[str]) -> None:
        """A bar from x to x as high as y for each of (x, x, y)."""
        base = self._down(self.y.low)
        for (first, last, height), tip in zip(spans, tips, strict=True):
            left, right, top = self._right(first), self._right(last), self._down(height)
            gap = min(1.0, (right - left) / 6)
            self._box(left + gap, top, right - left - 2 * gap, base - top, kind, tip)

    def spans(
        self, spans: Iterable[tuple[float, float]], kind: str, tips: Iterable[str], row: tuple[float, float]
    ) -> None:
        """A box from x to x for each of (x, x), between the two heights y of the row."""
        top, bottom = self._down(max(row)), self._down(min(row))
        for (first, last), tip in zip(spans, tips, strict=True):
            left = self._right(first)
            self._box(left, top, max(self._right(last) - left, 0.6), bottom - top, kind, tip)

    def words(self, x: float, y: float, text: str, anchor: Literal["start", "middle", "end"] = "middle") -> None:
        """Text at (x, y)."""
        self._marks.append(_text(self._right(x), self._down(y) + 4, text, anchor))

    def svg(self) -> Markup:
        """The chart as an element."""
        said = escape(f"{self.title}. {self.description}")
        return Markup(
            f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
            f'aria-label="{said}">{"".join(self._marks)}</svg>'
        )

    def _right(self, x: float) -> float:
        return LEFT + self.x.place(x) * (self.width - LEFT - RIGHT)

    def _down(self, y: float) -> float:
        return TOP + (1 - self.y.place(y)) * (self.height - TOP - BOTTOM)

    def _dot(self, x: float, y: float) -> str:
        return f'cx="{self._right(x):.1f}" cy="{self._down(y):.1f}"'

    def _box(self, left: float, top: float, width: float, height: float, kind: str, tip: str) -> None:
        place = f'x="{left:.1f}" y="{top:.1f}" width="{max(width, 0.4):.1f}" height="{max(height, 0):.1f}"'
        self._marks.append(f'<rect class="{kind}" {place}>{_tip(tip)}</rect>')

    def _axes(self, x_name: str, y_name: str) -> None:
        floor, right = self.height - BOTTOM, self.width - RIGHT
        for tick in self.y.ticks(5) if y_name else ():
            down = self._down(tick)
            self._marks.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{down:.1f}" y2="{down:.1f}"/>')
            self._marks.append(_text(LEFT - 7, down + 4, short(tick), "end"))
        for tick in self.x.ticks(max(3, self.width // 75)):
            across = self._right(tick)
            self._marks.append(f'<line class="grid" x1="{across:.1f}" x2="{across:.1f}" y1="{TOP}" y2="{floor}"/>')
            self._marks.append(_text(across, floor + 17, short(tick), "middle"))
        self._marks.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{floor}" y2="{floor}"/>')
        self._marks.append(_text((LEFT + right) / 2, self.height - 7, x_name, "middle", "name"))
        middle = (TOP + floor) / 2
        turned = f'<text class="name" text-anchor="middle" transform="translate(12 {middle:.0f}) rotate(-90)">'
        self._marks.append(f"{turned}{escape(y_name)}</text>" if y_name else "")


def _tip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def keys(kinds: dict[str, str]) -> Markup:
    """A legend of colours: {kind: name}."""
    named = (f'<span><i class="key {kind}"></i>{escape(name)}</span>' for kind, name in kinds.items())
    return Markup(f'<span class="keys">{" ".join(named)}</span>')
