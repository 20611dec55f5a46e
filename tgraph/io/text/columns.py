"""Lines of fields to arrays with pyarrow's CSV reader; input that it cannot parse directly is normalised first."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, blocks, lines, open_bytes
from tgraph.io.text.explain import explain
from tgraph.io.text.line_layout import BLANKS, LineLayout

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")


def first_lines(
    path: PathLike, comments: str, skip: int = 0, count: int = 2
) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """(leading comment lines, the first `count` data lines as (number, line)), both after `skip` lines."""
    notes: list[bytes] = []
    data: list[tuple[int, bytes]] = []
    comment = LineLayout((), comments=comments).comment
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
    """The number of the last comment or blank line after a header, or of the header itself."""
    _, data = first_lines(path, comments, header, count=1)
    return data[0][0] - 1 if data else header


def read_columns(path: PathLike, layout: LineLayout, progress: bool = False) -> list[Any]:
    """One entry per field of the layout: a numpy array, an arrow array of labels, or None where it is skipped.

    pyarrow reads the file directly; where that fails, with comments removed and blanks normalised; where that fails
    too, `explain` searches for the invalid line. Raises FileFormatError.
    """
    from pyarrow import csv

    def parse(attempt: LineLayout, straight: bool) -> list[Any]:
        with _source(path, attempt, straight, progress) as source:
            return _arrays(path, csv.read_csv(source, **_options(attempt, straight)), attempt)

    return _attempted(path, layout, parse, lambda: _arrays(path, _no_rows(layout), layout))


def fold_columns(
    path: PathLike, layout: LineLayout, fold: Callable[[Iterator[list[Any]]], T], progress: bool = False
) -> T:
    """The result of `fold` over the chunks of a file that does not fit into memory.

    A chunk is what `read_columns` returns for a megabyte of text. Where a chunk does not have the expected types, such
    as a fraction after integers, `fold` is called again from the first chunk. Raises FileFormatError.
    """
    from pyarrow import csv

    wide = frozenset(i for i, kind in enumerate(layout.fields) if kind == "id")  # avoids a second pass for these
    layout = replace(layout, wide=layout.wide | wide)

    def parse(attempt: LineLayout, straight: bool) -> T:
        options = _options(attempt, straight)
        # reading ahead in threads takes twice the memory and saves a sixth of the time
        options["read_options"].use_threads, options["read_options"].block_size = False, 1 << 20
        with _source(path, attempt, straight, progress) as source, csv.open_csv(source, **options) as reader:
            return fold(_arrays(path, _table(batch), attempt) for batch in reader)

    return _attempted(path, layout, parse, lambda: fold(iter(())))


def _table(batch: pyarrow.RecordBatch) -> pyarrow.Table:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _no_rows(layout: LineLayout) -> pyarrow.Table:
    import pyarrow as pa

    return pa.schema(layout.types().items()).empty_table()


def _attempted(path: PathLike, layout: LineLayout, parse: Callable[[LineLayout, bool], T], empty: Callable[[], T]) -> T:
    """The result of `parse` on the file as it is or normalised, with the first types that fit all fields."""
    import pyarrow as pa

    # any text is a label, so a comment between data lines would not fail
    straighten = (False,) if layout.literal else (True,) if "label" in layout.fields else (False, True)
    message = ""
    for straight in straighten:
        attempt: LineLayout | None = layout
        while attempt is not None:
            try:
                return parse(attempt, straight)
            except pa.ArrowInvalid as fault:
                message = str(fault)
                attempt = attempt.widened(message)
    if "Empty CSV file" in message:
        return empty()
    explain(path, layout)
    raise FileFormatError(path, message, "correct the file")


@contextmanager
def _source(path: PathLike, layout: LineLayout, straight: bool, progress: bool) -> Iterator[Any]:
    import pyarrow as pa

    with open_bytes(path, progress) as stream:
        yield pa.PythonFile(Straightened(stream, layout), "r") if straight else stream


def _options(layout: LineLayout, straight: bool) -> dict[str, Any]:
    """The options of pyarrow's CSV reader for a layout."""
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
            null_values=[],  # an empty field is an error, not a missing value
            true_values=marks,
            false_values=[],
        ),
    }


def _arrays(path: PathLike, table: pyarrow.Table, layout: LineLayout) -> list[Any]:
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
    """One writable array, as torch requires, of numbers none of which is missing.

    The buffers are read as they are, since `to_numpy` imports pandas, which takes longer than a small file."""
    whole = np.empty(len(column), dtype=column.type.to_pandas_dtype())
    filled = 0
    for chunk in filter(len, column.chunks):
        start = chunk.offset * whole.itemsize
        whole[filled : filled + len(chunk)] = np.frombuffer(chunk.buffers()[1], whole.dtype, len(chunk), start)
        filled += len(chunk)
    return whole


def _check_range(path: PathLike, ids: np.ndarray, layout: LineLayout) -> None:
    if not ids.size:
        return
    smallest, largest = int(ids.min()), int(ids.max())
    if smallest < layout.lowest or (layout.highest is not None and largest > layout.highest):
        explain(path, layout)
        raise AssertionError(f"{path}: ids {smallest}..{largest} lie outside the layout, yet no line was at fault")


class Straightened(io.RawIOBase):
    """The data lines of a stream without comments, with single delimiters and no blanks around them."""

    def __init__(self, stream: Any, layout: LineLayout):
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
    def _straighten(stream: Any, layout: LineLayout) -> Iterator[bytes]:
        skip = layout.skip
        changes = _changes(layout.delimiter.encode())
        comment = re.compile(rb"\n[" + re.escape(layout.comments.encode()) + rb"][^\n]*")
        for number, block in enumerate(blocks(stream)):
            block = block.removeprefix(BYTE_ORDER_MARK) if number == 0 else block
            while skip and block:
                skip -= 1
                block = block.partition(b"\n")[2]
            block = b"\n" + block  # so that every line follows a line end; pyarrow ignores empty lines
            for old, new in changes:
                while old in block:
                    block = block.replace(old, new)
            yield comment.sub(b"", block)


def _changes(mark: bytes) -> list[tuple[bytes, bytes]]:
    """Replacements to repeat until none applies, leaving single delimiters. Far faster than a regular expression."""
    ends = [(b"\r\n", b"\n")]
    if mark == BLANKS.encode():
        return [*ends, (b"\t", b" "), (b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n")]
    blanks = [blank for blank in (b" ", b"\t") if blank != mark]
    around = [(side, edge) for blank in blanks for edge in (mark, b"\n") for side in (blank + edge, edge + blank)]
    return ends + around
