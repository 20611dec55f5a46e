"""Options that several commands share, checked before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from tgraph.cli import ranks
from tgraph.cli.choices import BACKENDS, DEVICES, MEASURES, among, one_of
from tgraph.cli.pipes import is_stream
from tgraph.errors import ArgumentError

TABLES = (".parquet", ".csv", ".tsv", ".jsonl")
_FORMATS = tuple(extension[1:] for extension in TABLES)
PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")


def choosing(option: Any, values: tuple[str, ...]) -> Any:
    """An option of text whose values are these."""
    kind, described = get_args(option)
    return Annotated[kind, typer.Option(help=described.help, callback=among(values), autocompletion=one_of(values))]


def file_with(extensions: Iterable[str], wrong: str, streams: bool = False) -> Callable[[Path | None], Path | None]:
    """The callback of an option: a file with one of these extensions, which can be written. `wrong` is the error for
    another `path`. streams : True where it may be `-` or a pipe."""
    listed = ", ".join(extensions)

    def check(path: Path | None) -> Path | None:
        if path is not None and streams and is_stream(path):
            return path
        if path is not None and path.suffix.lower() not in extensions:
            raise ArgumentError(wrong.format(path=path, name=path.name, extensions=listed))
        return writable(path)

    return check


table_file = file_with(TABLES, "--output: {path} has none of the extensions {extensions}", streams=True)
picture_file = file_with(PICTURES, "{path} has none of the extensions of a picture, {extensions}")
trace_file = file_with(PICTURES + PAGES, "{path} has none of the extensions of a picture or page, {extensions}")
drawing_file = file_with((*PICTURES, ".html"), "{path} has none of the extensions of a drawing, {extensions}")
page_file = file_with(PAGES, "--output: {path} has none of the extensions of a page, {extensions}")
blocks_file = file_with((".tg",), "--output: a partitioned graph is a .tg file, not {name}")


def writable(path: Path | None) -> Path | None:
    """A path at which a file can be written, a stream, or None."""
    if path is None or is_stream(path):
        return path
    if path.is_dir() or not path.parent.is_dir():
        raise ArgumentError(
            f"{path} cannot be written: " + ("a folder" if path.is_dir() else f"no folder {path.parent}")
        )
    return path


def usable_device(name: str) -> str:
    """An available device, that of this process if there are several."""
    import torch

    if ranks.are_several():
        from tgraph.distributed.opening import device_of_rank

        name = device_of_rank(name)
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError) as fault:
        reason = str(fault).strip().partition("\n")[0]
        raise ArgumentError(f"--device: {name!r} cannot be used here: {reason}") from fault
    return name


class Mode(str, Enum):
    """The direction of iterations."""

    auto = "auto"
    push = "push"
    pull = "pull"


# ---- options that several commands share --------------------------------------------------------------------------

File = Annotated[
    Path, typer.Argument(help="A graph in any format that tgraph reads; - for standard input.", show_default=False)
]
Device = Annotated[
    str,
    typer.Option(callback=usable_device, autocompletion=one_of(DEVICES), help="A torch device, such as cuda."),
]
Memory = Annotated[str | None, typer.Option(help="Read a .tg file block by block within so much, such as 500MB.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show progress bars on stderr.")]
Source = Annotated[str | None, typer.Option(help="Where to start, by original id (default: largest out-degree).")]
Target = Annotated[str | None, typer.Option(help="Where to go, by original id.")]
Backend = Annotated[
    str, typer.Option(callback=among(BACKENDS), autocompletion=one_of(BACKENDS), help="Which kernels compute.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", callback=table_file, help=f"Write the result, {', '.join(TABLES)}, or - to print it."
    ),
]
To = Annotated[
    str,
    typer.Option(
        callback=among(_FORMATS),
        autocompletion=one_of(_FORMATS),
        help=f"The format of a result that is printed: {', '.join(_FORMATS)}.",
    ),
]
Seed = Annotated[int, typer.Option(help="Another seed gives another drawing.")]

# Parameters of algorithms as options of the command, by name.
OPTIONS: dict[str, Any] = {
    "source": Source,
    "target": Target,
    "max_depth": Annotated[int | None, typer.Option(min=0, help="Go no farther than so many hops.")],
    "delta": Annotated[float | None, typer.Option(help="Width of the buckets of delta-stepping.")],
    "damping": Annotated[float, typer.Option(min=0, max=1, help="The probability of following an edge.")],
    "tol": Annotated[float, typer.Option(min=0, help="Stop once an iteration changes at most this in all (L1).")],
    "max_iterations": Annotated[int, typer.Option(min=0, help="Give up after so many iterations.")],
    "weighted": Annotated[bool, typer.Option("--weighted", help="Edges count by their weights, not alike.")],
    "k": Annotated[int | None, typer.Option(help="Search from so many vertices drawn at random (default: from all).")],
    "count": Annotated[int, typer.Option(min=0, help="How many.")],
    "seed": Annotated[int | None, typer.Option(help="Another seed draws others.")],
    "normalized": Annotated[bool, typer.Option(help="Scale: by the pairs of vertices, the norm or the total.")],
    "endpoints": Annotated[bool, typer.Option("--endpoints", help="Count a path for its ends too.")],
    "direction": Annotated[str, typer.Option(help="Count the arcs of both directions, in or out.")],
    "wf_improved": Annotated[bool, typer.Option(help="Scale by the share of the vertices that reach it.")],
    "alpha": Annotated[float, typer.Option(help="The factor of each further step of a walk.")],
    "beta": Annotated[float, typer.Option(help="The value of a walk of length zero.")],
    "measure": Annotated[
        str,
        typer.Option(
            callback=among(MEASURES), autocompletion=one_of(MEASURES), help=f"Of similarity: {', '.join(MEASURES)}."
        ),
    ],
    "new_links": Annotated[bool, typer.Option("--new-links", help="Leave out pairs that an edge joins.")],
    "radius": Annotated[int, typer.Option(min=0, help="Go no farther than so many hops.")],
    "method": Annotated[str, typer.Option(help="How to compute it; auto goes by the size of the graph.")],
    "iterations": Annotated[int, typer.Option(min=0, help="Stop after so many, if anything still changes.")],
    "resolution": Annotated[float, typer.Option(min=0, help="More favours smaller communities, less larger ones.")],
    "min_weight": Annotated[float, typer.Option(min=0, max=1, help="The weight of an edge without votes.")],
    "ensemble_size": Annotated[int, typer.Option(min=1, help="How many partitions vote.")],
    "max_level": Annotated[int | None, typer.Option(min=1, help="The largest number of levels.")],
    "epsilon": Annotated[float, typer.Option(help="The error that nine in ten runs keep to.")],
    "importance_factor": Annotated[float, typer.Option(min=0, max=1, help="The factor of each further step.")],
    "length": Annotated[int, typer.Option(min=0, help="Steps of a walk.")],
    "walks": Annotated[int, typer.Option(min=0, help="Walks from every vertex.")],
    "p": Annotated[float, typer.Option(help="More leads back to the vertex before less often.")],
    "q": Annotated[float, typer.Option(help="More leads away from the vertex before less often.")],
    "restart": Annotated[float, typer.Option(min=0, max=1, help="The probability of going back to the start.")],
    "dimensions": Annotated[int, typer.Option(min=1, help="How many numbers each point has.")],
    "window": Annotated[int, typer.Option(min=1, help="How many steps apart vertices of a walk count as near.")],
    "epochs": Annotated[int, typer.Option(min=0, help="How many times to go through all walks.")],
    "strategy": Annotated[str, typer.Option(help="The order in which vertices take part.")],
}
