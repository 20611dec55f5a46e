"""A self-contained page: one file of HTML with its style, its pictures and a short script."""

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

HEIGHT = 700  # pixels of the frame of a page in a notebook


@dataclass(frozen=True)
class Fact:
    """A highlighted number, with its name and a note."""

    name: str
    value: str | Markup
    note: str | Markup = ""


@dataclass(frozen=True)
class Table:
    """Rows below a heading: numbers right-aligned, other cells as text or Markup. `bars` : a column with bars."""

    caption: str
    heading: Sequence[str]
    rows: Sequence[Sequence[Any]]
    bars: int | None = None

    def numeric(self, column: int) -> bool:
        """True if a column holds numbers."""
        return any(isinstance(row[column], int | float) for row in self.rows)

    def share(self, row: Sequence[Any]) -> int:
        """The length of the bar of a row, in percent of the longest."""
        assert self.bars is not None
        values = (float(each[self.bars]) for each in self.rows)
        most, own = max(filter(math.isfinite, values), default=0.0), float(row[self.bars])
        return round(100 * min(own, most) / most) if own > 0 and most > 0 else 0


@dataclass(frozen=True)
class Figure:
    """A picture, or several views by name, and a caption. A wide one scrolls on narrow screens."""

    title: str
    views: dict[str, Markup]
    caption: str | Markup = ""
    wide: bool = False


@dataclass
class Section:
    """A part of a page: a summary in a sentence, numbers, pictures, tables, and notes on the method, such as samples.
    `remarks` are highlighted, `more` are collapsed tables, `values` the underlying numbers. Two sections of `half`
    width are side by side, if there is room."""

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

    `title` may be any text, and is shown like labels. The page loads nothing else: its Content-Security-Policy allows
    its own style and script, by their hashes, and embedded pictures.
    """

    def __init__(self, title: str, lead: str | Markup, sections: Sequence[Section]):
        self.title, self.lead, self.sections = title, lead, list(sections)
        for half, group in groupby(self.sections, key=lambda section: section.half):
            beside = list(group)
            if half and len(beside) % 2:
                beside[-1].half = False  # without a neighbour

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
            raise ArgumentError(f"path: {os.path.basename(path)} does not have the extension .html")
        with replacing(path) as temporary:
            temporary.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame, isolated from the notebook's style and scripts."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(readable(self.title))}" '
            f'width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
        )


def number(value: float) -> str:
    """A number as readable text."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def cell(value: Any) -> str | Markup:
    """The text of a cell of a table."""
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def data_image(png: bytes, alternative: str, width: int, height: int) -> Markup:
    """A picture embedded in the page."""
    data = base64.b64encode(png).decode("ascii")
    return Markup(
        f'<img src="data:image/png;base64,{data}" alt="{escape(alternative)}" width="{width}" height="{height}">'
    )
