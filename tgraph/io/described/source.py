"""The text of a file, in whatever encoding, and values of types."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import open_bytes

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # what XML 1.0 cannot hold


def text_of(path: PathLike, encoding: str | None = None) -> str:
    """The whole text, with \\n for every line end. `encoding` : by default UTF-8, or UTF-16 with a byte order mark.
    Raises FileFormatError for other bytes."""
    with open_bytes(path) as stream:
        data = bytes(stream.read())
    encoding = encoding or next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except LookupError as fault:
        raise ArgumentError(f"encoding: Python has no {encoding!r}; 'latin-1' for instance is one") from fault
    except UnicodeDecodeError as fault:
        problem = f"the byte {data[fault.start : fault.start + 1]!r} is not {encoding} text"
        remedy = 'encoding= names the encoding, "latin-1" for instance'
        raise FileFormatError(path, problem, remedy, line=data.count(b"\n", 0, fault.start) + 1) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Refused(Exception):
    """(problem, remedy) of the present element."""


def typed(text: str, kind: str) -> Any:
    """The value of a text of a type of GraphML or GEXF. Raises Refused for another."""
    try:
        return TYPES[kind](text) if kind in TYPES else text
    except (ValueError, KeyError):
        problem = f"{text.strip()[:60]!r} is declared to be {kind}, and is none"
        raise Refused(problem, "correct it, or declare a string") from None


def _boolean(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]


TYPES: dict[str, Callable[[str], Any]] = dict.fromkeys(("int", "integer", "long", "short", "byte"), int)
TYPES |= dict.fromkeys(("float", "double", "real"), float) | {"boolean": _boolean}
