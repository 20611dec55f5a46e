"""The field layout of the lines of a text file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow

BLANKS = " "  # as a delimiter: any run of blanks and tabs
NUMERIC = ("id", "integer", "number", "real")  # kinds of fields
INT64 = range(-(2**63), 2**63)


class Field(NamedTuple):
    """A field of a line. `quoted` : whether it was in quotes; `text` is without them."""

    text: bytes
    quoted: bool = False


@dataclass(frozen=True)
class LineLayout:
    """The fields of every line of a file, and their separators.

    `fields` : the kind of each: "id" (an integer between `lowest` and `highest`), "label" (text), "integer" (int64),
    "number" (int64 where all are integers, else float64), "real" (float64), "skip", or "=x" for the literal x. The
    first `skip` lines, and lines that begin with one of `comments`, are not data.
    """

    fields: tuple[str, ...]
    delimiter: str = BLANKS
    blank: str = " "  # the separator where fields are separated by single blanks
    skip: int = 0
    comments: str = "#%"
    lowest: int = INT64.start
    highest: int | None = None
    quoted: bool = False
    wide: frozenset[int] = frozenset()  # fields that need the wider of their two types
    inline: bool = False  # whether a comment may follow a blank, too
    encoding: str | None = None  # of the file, for `open_bytes`
    decimal: str = "."  # the sign before the fraction of a number, or ","

    @property
    def literal(self) -> bool:
        """Whether lines are read without normalisation: a quoted label may contain comment characters and blanks."""
        return self.quoted and "label" in self.fields

    @property
    def comment(self) -> re.Pattern[bytes]:
        """Matches at the start of a comment."""
        return re.compile(rb"[ \t]*[" + re.escape(self.comments.encode()) + rb"]" if self.comments else rb"(?!)")

    @property
    def tail(self) -> re.Pattern[bytes]:
        """Matches quoted text, and a comment to the end of its line, at its start or after a blank."""
        return re.compile(rb'"[^"]*"|(?m:(?:^|[ \t])[' + re.escape(self.comments.encode()) + rb"][^\n]*)")

    def without_comments(self, text: bytes) -> bytes:
        """Lines without comments in them, where the layout has such."""
        if not (self.inline and self.comments):
            return text
        return self.tail.sub(lambda match: match[0] if match[0].startswith(b'"') else b"", text)

    def split(self, line: bytes) -> list[bytes]:
        """The fields of one line as text."""
        return [field.text for field in split(self.without_comments(line), self.delimiter)]

    def types(self) -> dict[str, pyarrow.DataType]:
        """The arrow type of each field but skipped ones, by position as text."""
        import pyarrow as pa

        narrow = {"id": pa.int32(), "label": pa.large_string(), "integer": pa.int64(), "real": pa.float64()}
        narrow |= {"number": pa.int64(), "=": pa.bool_()}
        wide = {"id": pa.int64(), "number": pa.float64()}
        kinds = {i: kind[:1] if kind.startswith("=") else kind for i, kind in enumerate(self.fields)}
        return {str(i): (wide if i in self.wide else narrow)[kind] for i, kind in kinds.items() if kind != "skip"}

    def widened(self, message: str) -> LineLayout | None:
        """The layout with a wider type for the field that failed to convert; None without a wider type."""
        failed = re.search(r"column #(\d+): (?:Row #\d+: )?CSV conversion error to int", message)
        column = int(failed[1]) if failed else -1
        if failed is None or column in self.wide or self.fields[column] not in ("id", "number"):
            return None
        return replace(self, wide=self.wide | {column})


def split(line: bytes, delimiter: str) -> list[Field]:
    """The fields of one line, without blanks around them; the delimiter `BLANKS` is any run of blanks and tabs. A field
    that begins with a quote ends at the next quote that is not doubled."""
    pattern, blanks = _pattern(delimiter)
    fields: list[Field] = []
    at, end = 0, len(line)
    while True:
        if delimiter == BLANKS and not line[at:].strip(blanks):
            return fields
        match = pattern.match(line, at)
        assert match is not None
        quoted = match[1] is not None
        fields.append(Field(match[1].replace(b'""', b'"') if quoted else match[2].strip(blanks), quoted))
        at = match.end()
        if at == end and not match[3]:
            return fields


@cache
def _pattern(delimiter: str) -> tuple[re.Pattern[bytes], bytes]:
    """(matches a field and the delimiter after it, the blanks around fields)"""
    mark = re.escape(delimiter.encode())
    blanks = b" \t".replace(delimiter.encode(), b"") if delimiter != BLANKS else b" \t"
    around, after, other = b"[" + blanks + b"]*", b"(" + mark + rb"|\Z)", b"[^" + mark + b"]*"
    if delimiter == BLANKS:
        after, other = rb"([ \t]+|\Z)", rb"[^ \t]+"
    return re.compile(
        around + b'(?:"((?:[^"]|"")*)"' + around + b"(?=" + after[1:] + b"|(" + other + b"))" + after
    ), blanks


def check_delimiter(delimiter: str | None) -> None:
    """Raise ArgumentError unless `delimiter` is None or a single ASCII character other than quotes and line ends."""
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '\r\n"'):
        raise ArgumentError(f"delimiter: {delimiter!r} is not one (ASCII) character; replace it by one in the file")
