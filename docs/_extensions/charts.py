"""Charts of tables: a comment `<!-- chart: name | what the numbers are | columns -->` above a table has it drawn.

The numbers stand in the page alone, so that a picture cannot be of others. Columns are separated by semicolons; the
first column of the table names the rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Patch

COMMENT = re.compile(r"<!-- chart: ([\w-]+) \| ([^|]+?) \| ([^|]+?) -->\n\n((?:\|.*\n)+)")
NUMBER = re.compile(r"[\d,]*\d(?:\.\d+)?")
COLOURS = ("#1c6fb0", "#c2571a", "#4a8f3c", "#8457a8", "#a3871a", "#7b8794")

matplotlib.rcParams["svg.hashsalt"] = "charts"  # the same picture in every build


def rows_of(table: str) -> list[list[str]]:
    """The cells of a table of Markdown, without the line below the heading."""
    lines = [line.strip().strip("|").split("|") for line in table.strip().splitlines()]
    return [[cell.strip() for cell in line] for i, line in enumerate(lines) if i != 1]


def value(cell: str) -> float | None:
    found = NUMBER.search(cell)
    return float(found[0].replace(",", "")) if found else None


def draw(table: str, label: str, columns: list[str], path: Path) -> None:
    """A group of bars for each row that has a number, on a logarithmic scale with a line at one.

    Raises ValueError for a column that the table does not have.
    """
    heading, *rows = rows_of(table)
    places = [heading.index(column) for column in columns]
    rows = [row for row in rows if any(value(row[place]) for place in places)]
    figure = Figure(figsize=(8, 0.8 + len(rows) * (0.12 + 0.16 * len(places))), layout="constrained")
    axes = figure.subplots()
    thick = 0.85 / len(places)
    for i, (place, colour) in enumerate(zip(places, COLOURS, strict=False)):
        for j, row in enumerate(rows):
            number = value(row[place])
            if number:
                at = j + (i - (len(places) - 1) / 2) * thick
                axes.barh(at, number, thick * 0.9, color=colour, label=heading[place] if j == 0 else None)
                axes.annotate(f" {row[place]}", (max(number, 1), at), va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [row[0].replace("`", "") for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.15)
    if "times" in label:
        axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    handles = [Patch(color=colour, label=heading[p]) for p, colour in zip(places, COLOURS, strict=False)]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(places), frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def illustrate(app: Any, page: str, source: list[str]) -> None:
    """Draw the charts of a page, and show each above its table."""
    up = "../" * page.count("/")

    def shown(found: re.Match[str]) -> str:
        name, label, columns, table = found.groups()
        draw(
            table, label, [column.strip() for column in columns.split(";")], Path(app.srcdir, "pictures", f"{name}.svg")
        )
        return f"![{label}: the numbers of the table below]({up}pictures/{name}.svg)\n\n{table}"

    source[0] = COMMENT.sub(shown, source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", illustrate)
    return {"parallel_read_safe": True}
