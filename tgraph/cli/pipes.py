"""Standard input and output, pipes and process substitution in the place of files, which readers go through twice."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import typer

from tgraph.cli.remedies import CommandError, exit_code
from tgraph.errors import ArgumentError, TGraphError
from tgraph.files.atomic_write import replacing

STANDARD = Path("-")


def is_stream(path: Path) -> bool:
    """True for `-`, and for a path of a pipe or device, which cannot be read again or replaced."""
    return path == STANDARD or (path.exists() and not path.is_file() and not path.is_dir())


def is_output(path: Path | None) -> bool:
    """True for standard output by any of its names."""
    return path in (STANDARD, Path("/dev/stdout"), Path("/dev/fd/1"))


def named(path: Path, output: bool = False) -> str:
    """The path in words."""
    return str(path) if path != STANDARD else "standard output" if output else "standard input"


def check_readable(path: Path, format: str | None) -> None:
    """Raise ArgumentError for a stream without the name of its format."""
    if format is None and is_stream(path):
        raise ArgumentError(f"{named(path)} has no extension; name the format of the graph by --format")


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """A file with the content of `path`: that itself, or a copy of a stream, whose name errors do not tell."""
    if not is_stream(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="tgraph") as folder, ExitStack() as stack:
        copy = Path(folder) / "copy"
        stream = typer.get_binary_stream("stdin") if path == STANDARD else stack.enter_context(open(path, "rb"))
        with open(copy, "wb") as file:
            shutil.copyfileobj(stream, file)
        try:
            yield copy
        except TGraphError as mistake:
            raise CommandError(str(mistake).replace(str(copy), named(path)), exit_code(mistake)) from mistake


@contextmanager
def writable(path: Path, extension: str = "") -> Iterator[Path]:
    """A file to write: it replaces `path` at the end of the block, or its content goes to that stream."""
    if not is_stream(path):
        with replacing(path) as temporary:
            yield temporary
        return
    with tempfile.TemporaryDirectory(prefix="tgraph") as folder, ExitStack() as stack:
        copy = Path(folder) / f"copy{extension}"
        yield copy
        stream = typer.get_binary_stream("stdout") if path == STANDARD else stack.enter_context(open(path, "wb"))
        with open(copy, "rb") as file:
            shutil.copyfileobj(file, stream)
        stream.flush()
