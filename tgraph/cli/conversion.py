"""The command that converts: a graph to another format, order or layout, or files of edges to one of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tgraph as tg
from tgraph.cli import ranks, report
from tgraph.cli.graphs import Layout, Out, Reorder, named, read, save, weight_options
from tgraph.cli.options import Directed, Format, Multi, Progress, Weights
from tgraph.cli.saying import say
from tgraph.errors import ArgumentError

MEMORY = "500MB"  # of each process that makes blocks


def convert(
    *,
    file: Annotated[
        list[Path], typer.Argument(help="A graph in any format, or several files of edges.", show_default=False)
    ],
    out: Out,
    format: Format = None,
    directed: Directed = None,
    weights: Weights = None,
    multi: Multi = "keep",
    parts: Annotated[
        int | None, typer.Option(min=1, help="Write so many blocks, for --memory and ranks (several: as many as fit).")
    ] = None,
    memory: Annotated[str | None, typer.Option(help=f"Write blocks within so much of it (default: {MEMORY}).")] = None,
    reorder: Reorder = None,
    layout: Layout = None,
    progress: Progress = False,
) -> None:
    """Write a graph in another format, order or layout, or as blocks.

    Blocks are made where a number of them or the memory is given, of several files, and by several processes."""
    if len(file) == 1 and parts is None and memory is None and not ranks.are_several():
        graph = read(file=file[0], format=format, directed=directed, weights=weights, multi=multi, progress=progress)
        save(graph, out=out, reorder=reorder, layout=layout)
        return
    if out.suffix.lower() != ".tg":
        raise ArgumentError(
            f"{out}: a file of blocks is a .tg file; --parts, --memory, several files or processes ask for one"
        )
    if format is not None or reorder is not None:
        raise ArgumentError(
            "--format, --reorder: blocks are made of edge lists and CSV files as they are; leave them out"
        )
    options: dict[str, Any] = {"parts": parts, "memory": memory or MEMORY, "layout": layout, "progress": progress}
    options |= named(directed=directed, multi=multi, **weight_options(weights))
    clock = report.stopwatch()
    if ranks.are_several():
        tg.distributed.convert(file, out, **options)
    else:
        tg.stream.convert(file, out, **options)
    took = clock()
    from tgraph.stream.file.blocks import BlockFile

    with BlockFile(out) as made:
        what = f"{made.num_vertices:,} vertices, {made.num_arcs:,} arcs in {len(made.blocks()):,} blocks"
    by = f" by {ranks.number()} ranks" if ranks.are_several() else ""
    say(f"{out}: {what}, of {len(file):,} {'file' if len(file) == 1 else 'files'}, converted in {took}{by}")
