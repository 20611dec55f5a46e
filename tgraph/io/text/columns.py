"""Lines of fields to arrays: pyarrow parses; what it cannot take as it stands is straightened first."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, blocks, lines, open_bytes

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")

BLANKS = " "  # as a delimiter: any run of blanks and tabs


@dataclass(frozen=True)
class Layout:
    """What stands in every line of a file.

    `fields` names the kind of each: "id" (an integer between `lowest` and `highest`), "label" (text), "integer"
    (int64), "number" (int64 where all are integers, else float64), "real" (float64), "skip", or "=x" for the
    literal x. `skip` lines on top are no data; later, lines that begin with one of `comments` are none either.
    """

    fields: tuple[str, ...]
    delimiter: str = BLANKS
    blank: str = " "  # the one that separates fields where they are separated by single ones
    skip: int = 0
    comments: str = "#%"
    lowest: int = 0
    highest: int | None = None
    quoted: bool = False
    wide: frozenset[int] = frozenset()  # fields that turned out not to fit their first, smaller type

    @property
    def literal(self) -> bool:
        """Whether every line counts as it stands: a quoted label may look like a comment and hold blanks."""
        return self.quoted and "label" in self.fields

    @property
    def comment(self) -> re.Pattern[bytes]:
        """Matches at the start of a comment."""
        return re.compile(rb"[ \t]*[" + re.escape(self.comments.encode()) + rb"]")

    def split(self, path: PathLike, number: int, line: bytes) -> list[bytes]:
        """The fields of one line. Raises FileFormatError for quotes and line ends that are not those of CSV."""
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

    def widened(self, message: str) -> Layout | None:
        """The layout after a failed conversion: its field gets a wider type. None where there is none."""
        failed = re.search(r"column #(\d+): (?:Row #\d+: )?CSV conversion error to int", message)
        column = int(failed[1]) if failed else -1
        if failed is None or column in self.wide or self.fields[column] not in ("id", "number"):
            return None
        return replace(self, wide=self.wide | {column})


def check_delimiter(delimiter: str | None) -> None:
    """Raise ArgumentError unless the delimiter is left to the file or one character that can be one."""
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '\r\n"'):
        raise ArgumentError(f"delimiter: {delimiter!r} is not one (ASCII) character; replace it by one in the file")


def first_lines(
    path: PathLike, comments: str, skip: int = 0, count: int = 2
) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """(comment lines on top, the first `count` data lines as (number, line)), both after `skip` lines."""
    notes: list[bytes] = []
    data: list[tuple[int, bytes]] = []
    comment = Layout((), comments=comments).comment
    with open_bytes(path) as stream:
        for number, line in lines(stream):
            if number <= skip or not line.strip():
                continue
            if comment.match(line):
                if not data:
                    notes.append(line)
                continue
            data.append((number, line))
            if len(data) == count:
                break
    return notes, data


def last_line_before_data(path: PathLike, comments: str, header: int) -> int:
    """The last of the comment and blank lines that follow a header, else the header itself."""
    _, data = first_lines(path, comments, header, count=1)
    return data[0][0] - 1 if data else header


def read_columns(path: PathLike, layout: Layout, progress: bool = False) -> list[Any]:
    """One entry per field of the layout: a numpy array, an arrow array of labels, or None where it is skipped.

    pyarrow reads the file as it is; where that fails, again with comments removed and blanks straightened; where
    that fails too, `explain` walks through the lines to say which one is at fault.
    Raises FileFormatError.
    """
    from pyarrow import csv

    def parse(attempt: Layout, straight: bool) -> list[Any]:
        with _source(path, attempt, straight, progress) as source:
            return _arrays(path, csv.read_csv(source, **_options(attempt, straight)), attempt)

    return _attempted(path, layout, parse, lambda: _arrays(path, _no_rows(layout), layout))


def fold_columns(path: PathLike, layout: Layout, fold: Callable[[Iterator[list[Any]]], T], progress: bool = False) -> T:
    """What `fold` makes of the file, which it gets piece by piece, for files that no memory holds.

    A piece is what `read_columns` returns of a megabyte of text. Where the file turns out not to be as it was
    taken to be, such as integers followed by a fraction, `fold` is called anew from the first piece.
    Raises FileFormatError.
    """
    from pyarrow import csv

    wide = frozenset(i for i, kind in enumerate(layout.fields) if kind == "id")  # no second pass for the sake of these
    layout = replace(layout, wide=layout.wide | wide)

    def parse(attempt: Layout, straight: bool) -> T:
        options = _options(attempt, straight)
        # threads read ahead, which takes twice the memory and saves a sixth of the time
        options["read_options"].use_threads, options["read_options"].block_size = False, 1 << 20
        with _source(path, attempt, straight, progress) as source, csv.open_csv(source, **options) as reader:
            return fold(_arrays(path, _table(batch), attempt) for batch in reader)

    return _attempted(path, layout, parse, lambda: fold(iter(())))


def _table(batch: pyarrow.RecordBatch) -> pyarrow.Table:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _no_rows(layout: Layout) -> pyarrow.Table:
    import pyarrow as pa

    return pa.schema(layout.types().items()).empty_table()


def _attempted(path: PathLike, layout: Layout, parse: Callable[[Layout, bool], T], empty: Callable[[], T]) -> T:
    """What `parse` makes of the file as it is or straightened, with the first types that all fields fit."""
    import pyarrow as pa

    # labels take any text, so nothing would fail where a comment stands between them
    straighten = (False,) if layout.literal else (True,) if "label" in layout.fields else (False, True)
    message = ""
    for straight in straighten:
        attempt: Layout | None = layout
        while attempt is not None:
            try:
                return parse(attempt, straight)
            except pa.ArrowInvalid as fault:
                message = str(fault)
                attempt = attempt.widened(message)
    if "Empty CSV file" in message:
        return empty()
    from tgraph.io.text.explain import explain

    explain(path, layout)
    raise FileFormatError(path, message, "correct the file")


@contextmanager
def _source(path: PathLike, layout: Layout, straight: bool, progress: bool) -> Iterator[Any]:
    import pyarrow as pa

    with open_bytes(path, progress) as stream:
        yield pa.PythonFile(Straightened(stream, layout), "r") if straight else stream


def _options(layout: Layout, straight: bool) -> dict[str, Any]:
    """What pyarrow has to know of the layout."""
    from pyarrow import csv

    types = layout.types()
    delimiter = layout.blank if layout.delimiter == BLANKS and not straight else layout.delimiter
    marks = [kind[1:] for kind in layout.fields if kind.startswith("=")]
    return {
        "read_options": csv.ReadOptions(
            column_names=[str(i) for i in range(len(layout.fields))],
            skip_rows=0 if straight else layout.skip,
            block_size=1 << 22,
        ),
        "parse_options": csv.ParseOptions(delimiter=delimiter, quote_char='"' if layout.quoted else False),
        "convert_options": csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[],  # an empty field is a fault, not a missing value
            true_values=marks,
            false_values=[],
        ),
    }


def _arrays(path: PathLike, table: pyarrow.Table, layout: Layout) -> list[Any]:
    arrays: list[Any] = []
    for i, kind in enumerate(layout.fields):
        if kind == "skip" or kind.startswith("="):
            arrays.append(None)
        elif kind == "label":
            arrays.append(table.column(str(i)))
        else:
            arrays.append(_joined(table.column(str(i))))
        if kind == "id":
            _check_range(path, arrays[-1], layout)
    return arrays


def _joined(column: pyarrow.ChunkedArray) -> np.ndarray:
    """One writable array: torch wants to own what it wraps."""
    whole = np.empty(len(column), dtype=column.type.to_pandas_dtype())
    filled = 0
    for chunk in column.chunks:
        whole[filled : filled + len(chunk)] = chunk.to_numpy(zero_copy_only=True)
        filled += len(chunk)
    return whole


def _check_range(path: PathLike, ids: np.ndarray, layout: Layout) -> None:
    if not ids.size:
        return
    smallest, largest = int(ids.min()), int(ids.max())
    if smallest < layout.lowest or (layout.highest is not None and largest > layout.highest):
        from tgraph.io.text.explain import explain

        explain(path, layout)
        raise AssertionError(f"{path}: ids {smallest}..{largest} lie outside the layout, yet no line was at fault")


class Straightened(io.RawIOBase):
    """The data lines of a stream, without comments, with one delimiter between fields and none around them."""

    def __init__(self, stream: Any, layout: Layout):
        self._blocks = self._straighten(stream, layout)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(block)
        taken = min(len(target), len(self._ready))
        target[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    @staticmethod
    def _straighten(stream: Any, layout: Layout) -> Iterator[bytes]:
        skip = layout.skip
        changes = _changes(layout.delimiter.encode())
        comment = re.compile(rb"\n[" + re.escape(layout.comments.encode()) + rb"][^\n]*")
        for number, block in enumerate(blocks(stream)):
            block = block.removeprefix(BYTE_ORDER_MARK) if number == 0 else block
            while skip and block:
                skip -= 1
                block = block.partition(b"\n")[2]
            block = b"\n" + block  # every line then follows a line end; pyarrow passes over the empty ones
            for old, new in changes:
                while old in block:
                    block = block.replace(old, new)
            yield comment.sub(b"", block)


def _changes(mark: bytes) -> list[tuple[bytes, bytes]]:
    """What to replace until it is gone, so that single delimiters remain. Far faster than a regular expression."""
    ends = [(b"\r\n", b"\n")]
    if mark == BLANKS.encode():
        return [*ends, (b"\t", b" "), (b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n")]
    blanks = [blank for blank in (b" ", b"\t") if blank != mark]
    around = [(side, edge) for blank in blanks for edge in (mark, b"\n") for side in (blank + edge, edge + blank)]
    return ends + around
