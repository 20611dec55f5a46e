"""Slow, exact reading of a text file line by line: for quotes, blanks and the error of the first invalid line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, lines
from tgraph.io.text.line_layout import INT64, Field, LineLayout, split

INFINITE = re.compile(rb"[-+]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(rb"-?\d+")
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?nan|" + INFINITE.pattern, re.IGNORECASE)
_MOST_LINES = 1000  # within quotes
_CHUNK = 1 << 20
Fault = tuple[str, str]


def exact(path: PathLike, stream: Any, layout: LineLayout) -> Iterator[bytes]:
    """The data as CSV in chunks: labels quoted, other fields unchanged, skipped fields empty. Raises FileFormatError
    for the first line that does not fit the layout."""
    chunk: list[bytes] = []
    size = 0
    for number, fields, line in _records(path, stream, layout):
        fault = _fault(layout, fields, line)
        if fault is not None:
            raise FileFormatError(path, *fault, line=number)
        chunk.append(b",".join(_as_csv(layout, *each) for each in zip(layout.fields, fields, strict=True)) + b"\n")
        size += len(chunk[-1])
        if size > _CHUNK:
            yield b"".join(chunk)
            chunk, size = [], 0
    yield b"".join(chunk)


def _as_csv(layout: LineLayout, kind: str, field: Field) -> bytes:
    if kind == "label":
        return b'"' + field.text.replace(b'"', b'""') + b'"'
    return b"" if kind == "skip" else _pointed(layout, field.text)


def _pointed(layout: LineLayout, text: bytes) -> bytes:
    """A number with a point before its fraction."""
    return text.replace(b",", b".") if layout.decimal == "," and b"." not in text else text


def _records(path: PathLike, stream: Any, layout: LineLayout) -> Iterator[tuple[int, list[Field], bytes]]:
    """(number, fields, line) of the data lines. A quoted field may span several lines."""
    comment, begin, whole = layout.comment, 0, b""
    for number, line in lines(stream):
        if begin:
            line = whole + b"\n" + line
        elif number <= layout.skip or not line.strip() or (not layout.literal and comment.match(line)):
            continue
        if not begin and not (line := layout.without_comments(line)).strip():
            continue
        fields = split(line, layout.delimiter)
        if not (layout.quoted and _is_open(fields)):
            yield begin or number, fields, line
            begin = 0
            continue
        begin, whole = begin or number, line
        if number - begin > _MOST_LINES:
            break
    if begin:
        problem = f"a quote is opened in {show(whole)} and not closed"
        raise FileFormatError(path, problem, 'close it, or double a quote in text: ""', line=begin)


def _is_open(fields: list[Field]) -> bool:
    last = fields[-1]
    return not last.quoted and last.text.startswith(b'"') and last.text.count(b'"') % 2 == 1


def _fault(layout: LineLayout, fields: list[Field], line: bytes) -> Fault | None:
    expected = len(layout.fields)
    if len(fields) != expected:
        found = f"{len(fields)} {'column' if len(fields) == 1 else 'columns'}"
        side = "short line, only" if len(fields) < expected else "too many columns,"
        return f"{side} {found} where {expected} are expected: {show(line)}", "every line holds the same columns"
    for kind, field in zip(layout.fields, fields, strict=True):
        fault = _field_fault(layout, kind, field)
        if fault is not None:
            return fault
    return None


def _field_fault(layout: LineLayout, kind: str, field: Field) -> Fault | None:
    text = field.text
    if kind == "id":
        return _id_fault(layout, text)
    if kind == "integer":
        return _integer_fault("value", text, "correct the line, or leave the values out with weights=False")
    if kind in ("number", "real"):
        return _number_fault(layout, text)
    if kind == "label":
        return _label_fault(layout, field)
    if kind.startswith("=") and text != kind[1:].encode():
        place = "begins with" if kind == layout.fields[0] else "has"
        return f"the line {place} {show(text)} where {kind[1:]!r} is expected", "correct the line"
    return None


def _number_fault(layout: LineLayout, text: bytes) -> Fault | None:
    remedy = "correct the line, or leave that column out with weights=False"
    if not _NUMBER.fullmatch(_pointed(layout, text)) or (layout.decimal == "," and b"." in text):
        return f"{show(text)} is not a number", remedy
    if float(_pointed(layout, text)) in (float("inf"), -float("inf")) and not INFINITE.fullmatch(text):
        return f"the number {show(text)} is beyond float64", remedy
    return None


def _label_fault(layout: LineLayout, field: Field) -> Fault | None:
    text = field.text
    if not text and not field.quoted:
        return "the id of a vertex is missing", 'fill it in, or write "" for an empty label'
    if text.startswith(b'"') and not field.quoted:
        return f"the quotes of {show(text)} do not end at a delimiter", 'double a quote in text: ""'
    if b"\0" in text:
        return f"{show(text)} has a byte 0", "the file is damaged: fetch or write it again"
    if text.startswith(BYTE_ORDER_MARK):
        return f"{show(text)} begins with a byte order mark", "remove it, as after joining files"
    try:
        text.decode()
    except UnicodeDecodeError:
        return f"{show(text)} is not UTF-8 text", "convert the file to UTF-8, by: iconv -f LATIN1 -t UTF-8"
    return None


def _id_fault(layout: LineLayout, field: bytes) -> Fault | None:
    numbered = layout.lowest == 1 or layout.highest is not None
    remedy = "correct the line" if numbered else 'correct the line, or read labels: ids="text"'
    fault = _integer_fault("id", field, remedy)
    if fault is not None:
        return fault
    value = int(field)
    if value < layout.lowest:
        name = "is negative" if value < 0 else f"is below {layout.lowest}"
        remedy = remedy if numbered else 'ids="compact" relabels ids 0..n-1'
        return f"the id {value} {name}", f"ids are integers from {layout.lowest} upwards; {remedy}"
    if layout.highest is not None and value > layout.highest:
        return f"the id {value} is above the declared number of vertices {layout.highest}", "correct the line or header"
    return None


def _integer_fault(name: str, field: bytes, remedy: str) -> Fault | None:
    if not _INTEGER.fullmatch(field):
        return f"the {name} {show(field)} is not an integer", remedy
    if len(field) > 4000 or int(field) not in INT64:  # Python limits the length of integers
        return f"the {name} {show(field)} does not fit a 64-bit integer", remedy
    return None


def show(text: bytes) -> str:
    """A part of a line, abridged, for a message."""
    shown = text[:200].decode("utf-8", "backslashreplace").strip()
    return repr(shown if len(shown) <= 50 else shown[:47] + "...")


def whole_number(word: bytes) -> int | None:
    """The number of a header, None for other words."""
    return int(word) if re.fullmatch(rb"\d{1,40}", word) else None
