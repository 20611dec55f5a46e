"""The field layout of the lines of a text file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike

if TYPE_CHECKING:
    import pyarrow

BLANKS = " "  # as a delimiter: any run of blanks and tabs


@dataclass(frozen=True)
class LineLayout:
    """The fields of every line of a file, and how they are separated.

    `fields` names the kind of each: "id" (an integer between `lowest` and `highest`), "label" (text), "integer"
    (int64), "number" (int64 where all are integers, else float64), "real" (float64), "skip", or "=x" for the
    literal x. The first `skip` lines, and lines that begin with one of `comments`, are not data.
    """

    fields: tuple[str, ...]
    delimiter: str = BLANKS
    blank: str = " "  # the separator where fields are separated by single blanks
    skip: int = 0
    comments: str = "#%"
    lowest: int = 0
    highest: int | None = None
    quoted: bool = False
    wide: frozenset[int] = frozenset()  # fields that need the wider of their two types

    @property
    def literal(self) -> bool:
        """Whether lines are read without normalisation: a quoted label may contain comment characters and blanks."""
        return self.quoted and "label" in self.fields

    @property
    def comment(self) -> re.Pattern[bytes]:
        """Matches at the start of a comment."""
        return re.compile(rb"[ \t]*[" + re.escape(self.comments.encode()) + rb"]")

    def split(self, path: PathLike, number: int, line: bytes) -> list[bytes]:
        """The fields of one line. Raises FileFormatError for quotes and line ends that are invalid in CSV."""
        if self.quoted:
            import csv

            rows = csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter)
            try:
                return [field.strip().encode() for field in next(rows, [])]
            except csv.Error as fault:
                problem, remedy = f"the line cannot be split into fields ({fault})", "quote such a field, or correct it"
                raise FileFormatError(path, problem, remedy, line=number) from fault
        if self.delimiter == BLANKS:
            return line.split()
        return [field.strip() for field in line.split(self.delimiter.encode())]

    def types(self) -> dict[str, pyarrow.DataType]:
        """The arrow type of each field that is read, by position as text."""
        import pyarrow as pa

        narrow = {"id": pa.int32(), "label": pa.large_string(), "integer": pa.int64(), "real": pa.float64()}
        narrow |= {"number": pa.int64(), "=": pa.bool_()}
        wide = {"id": pa.int64(), "number": pa.float64()}
        kinds = {i: kind[:1] if kind.startswith("=") else kind for i, kind in enumerate(self.fields)}
        return {str(i): (wide if i in self.wide else narrow)[kind] for i, kind in kinds.items() if kind != "skip"}

    def widened(self, message: str) -> LineLayout | None:
        """The layout with a wider type for the field that failed to convert; None where there is none."""
        failed = re.search(r"column #(\d+): (?:Row #\d+: )?CSV conversion error to int", message)
        column = int(failed[1]) if failed else -1
        if failed is None or column in self.wide or self.fields[column] not in ("id", "number"):
            return None
        return replace(self, wide=self.wide | {column})


def check_delimiter(delimiter: str | None) -> None:
    """Raise ArgumentError unless `delimiter` is None or a single ASCII character that can separate fields."""
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '\r\n"'):
        raise ArgumentError(f"delimiter: {delimiter!r} is not one (ASCII) character; replace it by one in the file")
