"""The steps of `tgraph store`: contents of a store, exchange with files and other stores, verification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tgraph as tg
from tgraph.cli import report
from tgraph.cli.options import Progress
from tgraph.cli.saying import grouped, say, tell
from tgraph.core.system.text import table

if TYPE_CHECKING:
    from tgraph.stores import Stat

PLACES = "a folder, lmdb:FOLDER, redis://USER@HOST:PORT/DATABASE or postgresql://USER@HOST:PORT/DATABASE"

Store = Annotated[str, typer.Argument(help=f"A store: {PLACES}.", show_default=False)]
Beginning = Annotated[str, typer.Option(help="Only tensors whose keys begin so.")]


def info(*, store: Store, key: Beginning = "") -> None:
    """Contents of a store."""
    opened = tg.stores.open(store)
    stats = [stat for stat in map(opened.stat, tg.stores.maintenance.matching(opened, key)) if stat is not None]
    rows = [["key", "dtype", "shape", "blocks", "bytes"]]
    tell(
        rows=[
            {"key": stat.key, "dtype": _dtype(stat), "shape": stat.shape, "blocks": stat.num_blocks} for stat in stats
        ]
    )
    for stat in stats:
        shape = " x ".join(grouped(size) for size in stat.shape)
        nbytes = stat.shape[0] * stat.row_bytes
        rows.append([stat.key, _dtype(stat), shape, grouped(stat.num_blocks), grouped(nbytes)])
    say(table(rows, left=(0, 1, 2)))
    total = sum(stat.shape[0] * stat.row_bytes for stat in stats)
    say(f"{opened!r}: {len(stats)} tensor{'s' if len(stats) != 1 else ''}, {report.scaled(total)}B")


def put(
    *,
    store: Store,
    file: Annotated[Path, typer.Argument(help="A .npy or .safetensors file.", show_default=False)],
    key: Annotated[
        str | None, typer.Option(help="The key of the array, or a folder for the tensors (default: their names).")
    ] = None,
) -> None:
    """Put the tensors of a file into a store."""
    opened = tg.stores.open(store)
    names = list(tg.stores.maintenance.put_file(opened, file, key))
    tell(keys=names)
    for name in names:
        stat = opened.stat(name)
        assert stat is not None
        say(f"{name}: {_dtype(stat)} {list(stat.shape)}")


def get(
    *,
    store: Store,
    file: Annotated[Path, typer.Argument(help="The file to write, .npy or .safetensors.", show_default=False)],
    key: Annotated[str, typer.Option(help="The key of the array; for .safetensors how the keys begin.")] = "",
) -> None:
    """Write tensors of a store to a file."""
    names = list(tg.stores.maintenance.get_file(tg.stores.open(store), file, key))
    say(f"{file}: {', '.join(names)}")
    tell(written=str(file), keys=names)


def verify(*, store: Store, key: Beginning = "", progress: Progress = False) -> None:
    """Compare every block of a store with its checksum."""
    opened, clock = tg.stores.open(store), report.stopwatch()
    damaged = tg.stores.maintenance.verify(opened, key, progress)
    report.verified(repr(opened), damaged, clock())


def copy(
    *,
    store: Store,
    target: Annotated[str, typer.Argument(help="The store to write to, likewise.", show_default=False)],
    key: Beginning = "",
    progress: Progress = False,
) -> None:
    """Copy the tensors of a store to another, one after the other, each wholly or not at all."""
    source, goal, clock = tg.stores.open(store), tg.stores.open(target), report.stopwatch()
    nbytes = tg.stores.maintenance.copy(source, goal, key, progress)
    say(f"{goal!r}: {report.scaled(nbytes)}B copied in {clock()}")
    tell(bytes=nbytes)


def _dtype(stat: Stat) -> str:
    return str(stat.dtype).removeprefix("torch.")
