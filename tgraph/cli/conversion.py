"""The command that converts: a graph to another format, order or layout, or files of edges to one of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tgraph as tg
from tgraph.cli import ranks, report
from tgraph.cli.graphs import Layout, Out, Reorder, ToFormat, VerticesOut, check_out, read, save
from tgraph.cli.options import Progress
from tgraph.cli.pipes import check_readable, is_stream
from tgraph.cli.reading import arguments, checked, naming_options, reading
from tgraph.cli.saying import grouped, say, tell
from tgraph.errors import ArgumentError

MEMORY = "500MB"  # of each process that makes blocks


def _check(*, file: list[Path], out: Path, to: str | None, parts: int | None, memory: str | None, **given: Any) -> None:
    check_out(out=out, to=to, layout=given["layout"])
    if not _in_blocks(file, parts, memory):
        check_readable(file[0], given["format"])
        return
    if is_stream(out) or out.suffix.lower() != ".tg" or to not in (None, "tg"):
        raise ArgumentError(
            f"{out}: a file of blocks is a .tg file; --parts, --memory, several files or processes ask for one"
        )
    if any(map(is_stream, file)):
        raise ArgumentError("blocks are made of files, which are read more than once; save what comes by a pipe first")
    if given["vertices"] is not None or given["vertices_out"] is not None:
        raise ArgumentError("--vertices, --vertices-out: blocks hold no data of vertices; leave them out")
    if given["format"] is not None or given["reorder"] is not None:
        raise ArgumentError(
            "--format, --reorder: blocks are made of edge lists and CSV files as they are; leave them out"
        )


@checked(_check)
@reading()
def convert(
    *,
    file: Annotated[
        list[Path], typer.Argument(help="A graph in any format, or several files of edges.", show_default=False)
    ],
    out: Out,
    to: ToFormat = None,
    parts: Annotated[
        int | None, typer.Option(min=1, help="Write so many blocks, for --memory and ranks (several: as many as fit).")
    ] = None,
    memory: Annotated[str | None, typer.Option(help=f"Write blocks within so much of it (default: {MEMORY}).")] = None,
    reorder: Reorder = None,
    layout: Layout = None,
    vertices_out: VerticesOut = None,
    progress: Progress = False,
    **given: Any,
) -> None:
    """Write a graph in another format, order or layout, or as blocks.

    Blocks are made where a number of them or the memory is given, of several files, and by several processes."""
    if not _in_blocks(file, parts, memory):
        graph = read(file=file[0], progress=progress, **given)
        save(graph, out=out, to=to, reorder=reorder, layout=layout, vertices_out=vertices_out)
        return
    options: dict[str, Any] = {"parts": parts, "memory": memory or MEMORY, "layout": layout, "progress": progress}
    options |= arguments(**given)
    clock = report.stopwatch()
    with naming_options("memory", "parts", "layout"):
        (tg.distributed if ranks.are_several() else tg.stream).convert(file, out, **options)
    took = clock()
    from tgraph.stream.file.blocks import BlockFile

    with BlockFile(out) as made:
        what = f"{grouped(made.num_vertices)} vertices, {grouped(made.num_arcs)} arcs"
        what += f" in {grouped(len(made.blocks()))} blocks"
    by = f" by {ranks.number()} ranks" if ranks.are_several() else ""
    say(f"{out}: {what}, of {grouped(len(file))} {'file' if len(file) == 1 else 'files'}, converted in {took}{by}")
    tell(written=str(out))


def _in_blocks(file: list[Path], parts: int | None, memory: str | None) -> bool:
    return len(file) > 1 or parts is not None or memory is not None or ranks.are_several()
