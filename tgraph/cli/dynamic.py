"""The steps of `tgraph dynamic`: a graph that changes, in a folder."""

from __future__ import annotations

import itertools
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tgraph as tg
from tgraph.cli import report
from tgraph.cli.choices import one_of
from tgraph.cli.options import Progress, picture_file
from tgraph.cli.pipes import check_readable, readable
from tgraph.cli.reading import READING, arguments, naming_options, reading
from tgraph.cli.saying import grouped, say, tell
from tgraph.core.system.text import table
from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    from tgraph.dynamic.durable.store import StoreOfFolder
    from tgraph.io.chunks import Chunk, EdgeFile

Folder = Annotated[Path, typer.Argument(help="The folder of the store.", show_default=False)]
Edges = Annotated[Path, typer.Argument(help="Edges in any format that tgraph reads.", show_default=False)]
Timeout = Annotated[float, typer.Option(min=0, help="Seconds to wait for another process that changes the store.")]
Multi = Annotated[
    str, typer.Option(autocompletion=one_of(("last", "sum", "keep")), help="Parallel edges: last, sum or keep.")
]
EDGES = [name for name in READING if name not in ("multi", "ids", "self_loops", "columns", "verify")]
Ids = Annotated[
    str,
    typer.Option(
        autocompletion=one_of(("any", "index")), help="index: vertices are numbers from 0 on; any: integers or text."
    ),
]


@reading(*EDGES)
def import_(
    *,
    store: Folder,
    file: Edges,
    multi: Multi = "last",
    ids: Ids = "any",
    progress: Progress = False,
    **given: Any,
) -> None:
    """Make a store of the edges in a file, read in chunks where its format allows it."""
    import torch

    if store.exists() and any(store.iterdir()):
        raise ArgumentError(f"{store} is there already; tgraph dynamic insert adds edges to it")
    clock = report.stopwatch()

    def made(chunks: Iterator[Chunk]) -> StoreOfFolder:
        shutil.rmtree(store, ignore_errors=True)  # of an attempt with integers, before the first fraction came
        first = next(chunks, None)
        values = torch.empty(0, dtype=torch.float64) if first is None else first[2]
        dtype = torch.as_tensor(values).dtype if edges.has_weights else None
        schema: dict[str, Any] = {"multi": multi, "ids": ids, "directed": edges.directed}
        opened = tg.dynamic.open(store, dtype, **schema, sync="never")  # a killed import starts over
        with opened:
            opened.insert_from(chunks if first is None else itertools.chain([first], chunks))
            opened.compact()
        return opened

    with _edges(file, given) as edges:
        opened = edges.fold(made, progress)
    _say(opened, f"made of {file}", clock())


def opened(*, store: Folder, timeout: Timeout = 0.0) -> StoreOfFolder:
    """A store that is there, to be changed."""
    _check(store)
    return tg.dynamic.open(store, timeout=timeout)


@reading(*(name for name in EDGES if name != "directed"))
def insert(
    store: StoreOfFolder,
    /,
    *,
    file: Edges,
    progress: Progress = False,
    picture: Annotated[
        Path | None,
        typer.Option(callback=picture_file, help="Where to draw the levels of the store over time."),
    ] = None,
    **given: Any,
) -> None:
    """Insert the edges in a file."""
    keeps = "weights" in store.columns
    clock, given = report.stopwatch(), given if keeps else given | {"weights": "none"}
    with store, _edges(file, given) as edges, tg.dynamic.History(store) as history:
        edges.fold(_once(lambda chunks: store.insert_from(chunks)), progress)
    if picture is not None:
        history.plot(picture)
    _say(store, f"{file} inserted", clock())


@reading(*(name for name in EDGES if name not in ("directed", "weights")))
def delete(
    store: StoreOfFolder,
    /,
    *,
    file: Edges,
    progress: Progress = False,
    **given: Any,
) -> None:
    """Delete the edges in a file, and all parallel ones."""
    clock = report.stopwatch()

    def deleted(chunks: Iterator[Chunk]) -> None:
        for src, dst, _ in chunks:
            store.delete(src, dst)

    with store, _edges(file, given | {"weights": "none"}) as edges:
        edges.fold(_once(deleted), progress)
    _say(store, f"{file} deleted", clock())


def info(*, store: Folder) -> None:
    """Contents of a store, and its files on the disk."""
    _check(store)
    facts = {**_schema(read := tg.dynamic.open(store, mode="r", verify=False)), **read.info()}
    tell(store=str(store), **{name.replace(" ", "_"): value for name, value in facts.items()})
    say(table([["", ""], *([name, _shown(value)] for name, value in facts.items())], left=(0, 1)))


def compact(store: StoreOfFolder, /) -> None:
    """Merge all changes into the arcs now, and empty the log."""
    clock = report.stopwatch()
    with store:
        store.compact()
    _say(store, "compacted", clock())


def verify(*, store: Folder) -> None:
    """Read all of a store and compare it with its checksums."""
    _check(store)
    clock = report.stopwatch()
    damaged = tg.dynamic.verify(store)
    report.verified(store, damaged, clock())


def export(*, store: Folder) -> tg.Graph:
    """The graph that a store has now."""
    _check(store)
    return tg.dynamic.open(store, mode="r").snapshot()


@contextmanager
def _edges(file: Path, given: dict[str, Any]) -> Iterator[EdgeFile]:
    """The edges of a file or stream, to be read within the context."""
    from tgraph.io.chunks import open_edges

    check_readable(file, given["format"])
    options = arguments(**{**given, "format": None})
    with readable(file) as path, naming_options(), warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.io.ColumnsLeftOut)
        yield open_edges(path, format=given["format"], **options)


def _once(change: Callable[[Iterator[Chunk]], Any]) -> Callable[[Iterator[Chunk]], None]:
    """A change that, called again with the chunks from the first on, leaves out the arcs that it had before."""
    done = 0

    def again(chunks: Iterator[Chunk]) -> None:
        skipped, before = 0, done

        def rest() -> Iterator[Chunk]:
            nonlocal done, skipped
            for src, dst, weights in chunks:
                first = min(len(src), before - skipped)
                skipped += first
                if first < len(src):
                    yield src[first:], dst[first:], None if weights is None else weights[first:]
                    done += len(src) - first

        change(rest())

    return again


def _check(store: Path) -> None:
    from tgraph.dynamic.durable.manifest import NAME

    if not (store / NAME).exists():
        raise ArgumentError(f"{store} is no store; tgraph dynamic import makes one")


def _say(store: StoreOfFolder, done: str, took: str) -> None:
    """Print a change and the present size of the store."""
    facts = store.info()
    arcs = facts["arcs in CSR"] + facts["changes in runs"]
    about = f"{'about ' if facts['changes in runs'] else ''}{grouped(arcs)} arcs"
    tell(store=str(store.path), version=store.version, vertices=store.num_vertices)
    disk = report.scaled(facts["bytes of files"] + facts["bytes of log"])
    say(
        f"{store.path}: {done} in {took}; version {grouped(store.version)}, "
        f"{grouped(store.num_vertices)} vertices, {about}, {disk}B"
    )


def _schema(store: StoreOfFolder) -> dict[str, str]:
    columns = ", ".join(f"{name} {str(dtype).removeprefix('torch.')}" for name, dtype in store.columns.items())
    kind = "directed" if store.directed else "undirected"
    return {"edges": f"{kind}, {columns or 'no arc data'}; of parallel ones {store.multi}"}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(grouped(size) for size in value) or "none"
    if isinstance(value, float):
        return f"{value:.2f}"
    return grouped(value) if isinstance(value, int) else str(value)
