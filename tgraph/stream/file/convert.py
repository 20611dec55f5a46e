"""Conversion of an edge list larger than memory to a partitioned .tg file: an external sort by row.

    read       the text once, piece by piece, into runs of edges on disk, collecting the vertex ids
    count      renumber the vertices in the runs, and count the arcs of each: the bounds of blocks and buckets follow
    scatter    the arcs of each section to buckets of whole rows, small enough to be sorted in memory
    sort       each bucket, as `sorting.sort_edges` does, and write its blocks

Method: the two-level distribution sort of Knuth, TAOCP 3, section 5.4.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any

from tgraph import io
from tgraph.core.building.inputs import as_count
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import room_for
from tgraph.files.temporary import temporary_folder
from tgraph.io.text import csv, edgelist
from tgraph.io.text.edgelist import Plan
from tgraph.stream.file.block_sorter import BlockSorter
from tgraph.stream.file.edge_reader import EdgeReader, PlannedFile
from tgraph.stream.file.writing import check_layout
from tgraph.stream.memory import parse_memory


def convert(
    path_in: PathLike | Sequence[PathLike],
    path_out: PathLike,
    *,
    parts: int | None = None,
    memory: str | int = "500MB",
    layout: str | None = None,
    progress: bool = False,
    **options: Any,
) -> None:
    """Convert an edge list or CSV file of any size to a partitioned .tg file, equal to that of
    `write_partitioned(tgraph.read(path_in, **options), path_out, parts, layout=layout)`.

    path_in : the file, or several, which are read as one; `tgraph.distributed.convert` reads them in several processes.
    parts : how many blocks a section has; None takes as few as can be sorted in memory.
    memory : the memory budget beside Python itself and its modules, "500MB" or bytes as an int. It must hold a few
        tables of 8 bytes for each vertex (and the text of labels, where vertices have labels) and all arcs of any one
        vertex.
    layout : "virtual" compresses the blocks (see `write_partitioned`), which takes more memory for each arc.
    progress : True shows progress bars.
    options : of `tgraph.read` for these formats: directed, weights, multi, self_loops, ids, delimiter, skip, and for
        CSV source, target and weight.

    The disk must hold, beside the result, 16 bytes for each edge and at most as much again (8 more with weights), in a
    temporary folder beside `path_out`. It is removed at the end, also after an exception; after a killed conversion the
    next one to the same path removes it. An interrupted conversion starts over. A list of undirected edges that
    contains each in both directions is recognised by a 64-bit hash of all arcs, which errs once in 2**64 files.
    Raises FileFormatError for a file that cannot be read, ArgumentError for options that do not fit the format, for a
    result in the place of a file that is read, and for too little memory, saying how much is needed; OSError, with the
    bytes needed, where the disk is full.

    >>> tg.write(tg.generators.grid2d(30, 30), "grid.el")
    >>> tg.stream.convert("grid.el", "blocks.tg", parts=4, directed=False)
    >>> tg.open("blocks.tg", memory="1MB").num_edges
    1740
    """
    budget = parse_memory(memory)
    check_layout(layout, None)
    files = planned(path_in, options, path_out)
    parts = None if parts is None else as_count(parts, "parts")
    with (
        temporary_folder(path_out) as folder,
        room_for(path_out, needed(files)),
        EdgeReader(files, folder / "runs", budget) as reading,
    ):
        reading.read(files, progress)
        BlockSorter(reading, folder, budget, parts, progress, layout).write(path_out)


def planned(paths: PathLike | Sequence[PathLike], options: dict[str, Any], path_out: PathLike) -> list[PlannedFile]:
    """The plan of reading each file. Raises ArgumentError for no files, for files that do not make one list of edges,
    and for a file that the result would replace."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not several:
        raise ArgumentError("path_in: no file is given")
    for path in several:
        if os.path.exists(path_out) and os.path.samefile(path, path_out):
            raise ArgumentError(f"path_out: {path_out} is the file {path} that is read; give the result another name")
    files = [PlannedFile(path, _plan(path, options)) for path in several]
    with_edges = [file for file in files if file.plan.layout is not None]
    for file in with_edges[1:]:
        first = with_edges[0]
        for what, said, remedy in (
            ("kind of ids", lambda plan: plan.kind, "ids='text' reads all as text"),
            ("choice of weights", lambda plan: plan.weight is not None, "weights=False leaves them out"),
            ("direction", lambda plan: plan.rules.directed, "directed= says how to take all"),
        ):
            if said(file.plan) != said(first.plan):
                raise ArgumentError(f"path_in: {file.path} has another {what} than {first.path}; {remedy}")
    return with_edges or files


def needed(files: Sequence[PlannedFile]) -> str:
    """About how many bytes a conversion takes on disk."""
    return f"about {4 * sum(os.path.getsize(file.path) for file in files)}"


def _plan(path: PathLike, options: dict[str, Any]) -> Plan:
    module = io.format_module(path, None)
    if module not in (edgelist, csv):
        raise ArgumentError(f"path_in: {path} is no edge list or CSV file; read it with tgraph.read")
    planning = csv.plan if module is csv else edgelist.plan
    known = inspect.signature(planning).parameters
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ArgumentError(f"{unknown[0]}: no option for {path}; it takes {', '.join(list(known)[1:])}")
    return planning(path, **options)
