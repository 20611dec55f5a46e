"""The text of a file, in whatever encoding, and the elements of XML."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import open_bytes

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHUNK = 1 << 20
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


def read_xml(
    path: PathLike,
    encoding: str | None,
    start: Callable[[str, dict[str, str], int], None],
    end: Callable[[str, str, int], None],
) -> None:
    """Call `start(tag, attributes, line)` and `end(tag, text, line)` for the elements of an XML file, without their
    namespaces. Nothing but the file is read, and no entity is expanded. Raises FileFormatError."""
    parser = expat.ParserCreate(encoding, namespace_separator=" ")
    texts: list[list[str]] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        texts.append([])
        plain = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        start(tag.rpartition(" ")[2], plain, parser.CurrentLineNumber)

    def finish(tag: str) -> None:
        end(tag.rpartition(" ")[2], "".join(texts.pop()), parser.CurrentLineNumber)

    def refuse(*_: Any) -> None:
        raise Refused("XML with entities of its own, which can stand for anything", "write it without them")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    for handler in ("EntityDeclHandler", "SkippedEntityHandler", "ExternalEntityRefHandler"):
        setattr(parser, handler, refuse)
    try:
        with open_bytes(path) as stream:
            while piece := stream.read(_CHUNK):
                parser.Parse(bytes(piece), False)
            parser.Parse(b"", True)
    except expat.ExpatError as fault:
        problem = f"not well-formed XML ({expat.ErrorString(fault.code)})"
        remedy = "correct it there, or fetch or write the file again"
        raise FileFormatError(path, problem, remedy, line=fault.lineno) from fault
    except Refused as fault:
        problem, remedy = fault.args
        raise FileFormatError(path, problem, remedy, line=parser.CurrentLineNumber) from fault
    except (LookupError, ValueError) as fault:
        raise FileFormatError(path, f"XML in an unknown encoding ({fault})", "convert it to UTF-8") from fault


def typed(text: str, kind: str) -> Any:
    """The value of a text of a type of GraphML or GEXF. Raises Refused for another."""
    plain = text.strip()
    try:
        if kind in ("int", "integer", "long", "short", "byte"):
            return int(plain)
        if kind in ("float", "double", "real"):
            return float(plain)
        if kind == "boolean":
            return {"true": True, "1": True, "false": False, "0": False}[plain.lower()]
    except (ValueError, KeyError):
        raise Refused(
            f"{plain[:60]!r} is declared to be {kind}, and is none", "correct it, or declare a string"
        ) from None
    return text
