"""A page that holds all it shows: one file of HTML with its style, its pictures and a short script."""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any

from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing
from tgraph.markup.labels import Markup, readable
from tgraph.markup.template import rendered

HEIGHT = 700  # pixels of the frame that a notebook shows a page in


@dataclass(frozen=True)
class Fact:
    """A number that stands out, what it is, and what one should know of it."""

    name: str
    value: str | Markup
    note: str | Markup = ""


@dataclass(frozen=True)
class Table:
    """Rows below a heading: numbers to the right, other cells as text, those that are Markup as they are. `bars` names
    a column of numbers to draw bars for, beside them."""

    caption: str
    heading: Sequence[str]
    rows: Sequence[Sequence[Any]]
    bars: int | None = None

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers."""
        return any(isinstance(row[column], int | float) for row in self.rows)

    def share(self, row: Sequence[Any]) -> int:
        """How long the bar of a row is, in percent of the longest."""
        assert self.bars is not None
        values = (float(each[self.bars]) for each in self.rows)
        most, own = max(filter(math.isfinite, values), default=0.0), float(row[self.bars])
        return round(100 * min(own, most) / most) if own > 0 and most > 0 else 0


@dataclass(frozen=True)
class Figure:
    """A picture, or several views of one to switch between, by name; and what it shows. A wide one takes the whole
    width, and scrolls on narrow screens."""

    title: str
    views: dict[str, Markup]
    caption: str | Markup = ""
    wide: bool = False


@dataclass
class Section:
    """A part of a page: what it found in a sentence, numbers, pictures, tables, and notes on how that was found, such
    as samples. `remarks` stand out, `more` are tables that are folded up, `values` are the numbers behind it all. Two
    that are `half` as wide stand beside each other, where there is room."""

    name: str
    title: str
    lead: str | Markup = ""
    facts: list[Fact] = field(default_factory=list)
    remarks: list[str | Markup] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    more: list[Table] = field(default_factory=list)
    notes: list[str | Markup] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    half: bool = False


class Page:
    """A page of HTML. A notebook shows it in a frame, `save` writes it to a file, and `html` is its text.

    `title` may be any text, and is shown as labels are. The page asks for nothing else: the Content-Security-Policy in
    it allows its own style and script, by their hashes, and pictures that it holds.
    """

    def __init__(self, title: str, lead: str | Markup, sections: Sequence[Section]):
        self.title, self.lead, self.sections = title, lead, list(sections)
        for half, group in groupby(self.sections, key=lambda section: section.half):
            beside = list(group)
            if half and len(beside) % 2:
                beside[-1].half = False  # there is none to stand beside it

    @property
    def html(self) -> str:
        """The text of the page.

        >>> tg.report(tg.generators.path(5), title="<A path>").html.partition("<h1>")[2][:30]
        '<bdi>&lt;A path&gt;</bdi></h1>'
        """
        return rendered("tgraph.markup", {"cell": cell}, page=self)

    def save(self, path: PathLike) -> None:
        """Write the page to a file .html or .htm. Raises ArgumentError for another extension.

        >>> tg.report(tg.generators.path(5)).save("path.html")
        """
        if not os.fspath(path).lower().endswith((".html", ".htm")):
            raise ArgumentError(f"path: {os.path.basename(path)} has not the extension .html")
        with replacing(path) as temporary:
            temporary.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, in which its style and script do not touch the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(readable(self.title))}" '
            f'width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
        )


def number(value: float) -> str:
    """A number as a person reads it."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def cell(value: Any) -> str | Markup:
    """What a cell of a table shows."""
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def data_image(png: bytes, alternative: str, width: int, height: int) -> Markup:
    """A picture in the page itself."""
    data = base64.b64encode(png).decode("ascii")
    return Markup(
        f'<img src="data:image/png;base64,{data}" alt="{escape(alternative)}" width="{width}" height="{height}">'
    )
