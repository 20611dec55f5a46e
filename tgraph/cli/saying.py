"""Text on the terminal, without control characters of labels, paths and messages; and the object of --json."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer

from tgraph.terminal import harmless

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_answer: ContextVar[dict[str, Any] | None] = ContextVar("answer", default=None)


def say(text: str, err: bool = False) -> None:
    """Print lines; control characters and marks of direction in them are shown as escapes. Lines for people are left
    out where standard output has data."""
    if err or not _quiet.get():
        _print(text, err)


def grouped(number: Any) -> str:
    """A number as text: with thousands separators for people at a terminal, plain for programs that read a pipe."""
    return format(number, "," if sys.stdout.isatty() else "")


def is_told() -> bool:
    """Whether there is an object of --json."""
    return _answer.get() is not None


def tell(**facts: Any) -> None:
    """Add facts to the object of --json, where one is asked for."""
    if (answer := _answer.get()) is not None:
        answer.update(facts)


@contextmanager
def answering(command: str, as_json: bool, quiet: bool) -> Iterator[None]:
    """A context that prints the facts told in it as one JSON object at its end, or at an exit with a code of its own,
    if `as_json`; and no lines if `quiet`."""
    answer = {"command": command} if as_json else None
    tokens = _answer.set(answer), _quiet.set(quiet or as_json)
    try:
        yield
    except typer.Exit:
        _end(answer)
        raise
    else:
        _end(answer)
    finally:
        _answer.reset(tokens[0])
        _quiet.reset(tokens[1])


def _end(answer: dict[str, Any] | None) -> None:
    if answer is not None:
        _print(as_text(answer))


def _print(text: str, err: bool = False) -> None:
    typer.echo(harmless(text, kept="\n\t"), err=err)


def as_text(value: Any) -> str:
    """The value as JSON in one line; numbers that are infinite or missing become null."""
    return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False)


def _plain(value: Any) -> Any:
    """The value in types of JSON."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, Iterator)):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # numpy's scalars, tensors and arrays
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
