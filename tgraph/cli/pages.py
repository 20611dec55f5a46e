"""`tgraph report`: a first look at a graph, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import tgraph as tg
from tgraph.cli import report as lines
from tgraph.cli.options import File, page_file
from tgraph.cli.saying import say, tell


def report(
    graph: tg.Graph,
    /,
    *,
    file: File,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", callback=page_file, help="The page to write, .html.", show_default=True),
    ] = Path("report.html"),
    title: Annotated[str, typer.Option(help="The heading (default: the name of the file).")] = "",
    seed: Annotated[int, typer.Option(help="Another seed draws other samples.")] = 0,
) -> None:
    """A page on a graph: sizes, degrees, distances, communities, a drawing ..."""
    clock = lines.stopwatch()
    tg.report(graph, title=title or file.name, seed=seed).save(output)
    say(f"{output}: written in {clock()}")
    tell(written=str(output))
