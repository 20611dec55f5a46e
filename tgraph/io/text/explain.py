"""The error for a file that pyarrow could not parse: a slow search for the invalid line and its fault."""

from __future__ import annotations

import re

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import lines, open_bytes
from tgraph.io.text.line_layout import LineLayout

_INTEGER = re.compile(rb"-?\d+")
_INT64 = range(-(2**63), 2**63)
Fault = tuple[str, str]


def explain(path: PathLike, layout: LineLayout) -> None:
    """Raise FileFormatError for the first line that does not fit the layout; return if all do."""
    comment = layout.comment
    with open_bytes(path) as stream:
        for number, line in lines(stream):
            if number <= layout.skip or not line.strip() or (not layout.literal and comment.match(line)):
                continue
            fault = _fault(layout, layout.split(path, number, line), line)
            if fault is not None:
                raise FileFormatError(path, *fault, line=number)


def _fault(layout: LineLayout, fields: list[bytes], line: bytes) -> Fault | None:
    expected = len(layout.fields)
    if len(fields) != expected:
        found = f"{len(fields)} {'column' if len(fields) == 1 else 'columns'}"
        side = "short line, only" if len(fields) < expected else "too many columns,"
        return f"{side} {found} where {expected} are expected: {_show(line)}", "every line holds the same columns"
    for kind, field in zip(layout.fields, fields, strict=True):
        fault = _field_fault(layout, kind, field)
        if fault is not None:
            return fault
    return None


def _field_fault(layout: LineLayout, kind: str, field: bytes) -> Fault | None:
    if kind == "id":
        return _id_fault(layout, field)
    if kind == "integer":
        return _integer_fault("value", field, "correct the line, or leave the values out with weights=False")
    if kind in ("number", "real") and not _is_number(field):
        return f"{_show(field)} is not a number", "correct the line, or leave that column out with weights=False"
    if kind == "label" and not _is_utf8(field):
        return f"{_show(field)} is not UTF-8 text", "convert the file to UTF-8"
    if kind.startswith("=") and field != kind[1:].encode():
        return f"the line begins with {_show(field)} where {kind[1:]!r} is expected", "correct the line"
    return None


def _id_fault(layout: LineLayout, field: bytes) -> Fault | None:
    relabel = "correct the line" if layout.lowest or layout.highest else 'correct the line, or read labels: ids="text"'
    fault = _integer_fault("id", field, relabel)
    if fault is not None:
        return fault
    value = int(field)
    if value < layout.lowest:
        name = "is negative" if value < 0 else f"is below {layout.lowest}"
        return f"the id {value} {name}", f"ids are integers from {layout.lowest} upwards; {relabel}"
    if layout.highest is not None and value > layout.highest:
        return f"the id {value} is above the declared number of vertices {layout.highest}", "correct the line or header"
    return None


def _integer_fault(name: str, field: bytes, remedy: str) -> Fault | None:
    if not _INTEGER.fullmatch(field):
        return f"the {name} {_show(field)} is not an integer", remedy
    if int(field) not in _INT64:
        return f"the {name} {_show(field)} does not fit a 64-bit integer", remedy
    return None


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field and not field.startswith(b"+")


def _is_utf8(field: bytes) -> bool:
    try:
        field.decode()
    except UnicodeDecodeError:
        return False
    return True


def _show(text: bytes) -> str:
    shown = text.decode("utf-8", "backslashreplace").strip()
    return repr(shown if len(shown) <= 60 else shown[:57] + "...")
