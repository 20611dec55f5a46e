"""Lines of fields to arrays with pyarrow's CSV reader; input that it cannot parse directly is normalised first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, lines, open_bytes
from tgraph.io.text.exact import exact
from tgraph.io.text.line_layout import BLANKS, INT64, NUMERIC, LineLayout
from tgraph.io.text.streams import Odd, Pieces, Watched, straightened

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")


class Form(Enum):
    """The form of a file passed to pyarrow."""

    AS_IT_IS = 0
    STRAIGHTENED = 1
    EXACT = 2


def first_lines(
    path: PathLike, comments: str, skip: int = 0, count: int = 2, encoding: str | None = None
) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """(leading comment lines, the first `count` data lines as (number, line)), both after `skip` lines."""
    notes: list[bytes] = []
    data: list[tuple[int, bytes]] = []
    comment = LineLayout((), comments=comments).comment
    with open_bytes(path, encoding=encoding) as stream:
        for number, line in lines(stream, blank=False):
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
    """The number of the last comment or blank line after a header, by default of the header."""
    _, data = first_lines(path, comments, header, count=1)
    return data[0][0] - 1 if data else header


def read_columns(path: PathLike, layout: LineLayout, progress: bool = False) -> list[Any]:
    """One entry per field of the layout: a numpy array, an arrow array of labels, or None where it is skipped.

    pyarrow reads the file directly; where that fails or would misread it, with comments removed and blanks normalised;
    and else line by line, which finds the invalid line. Raises FileFormatError.
    """
    import pyarrow as pa
    from pyarrow import csv

    def parse(attempt: LineLayout, form: Form) -> list[Any]:
        with _source(path, attempt, form, progress) as (source, seen):
            arrays = _arrays(csv.read_csv(source, **_options(attempt, form)), attempt, form, seen)
        _check_spelling(path, attempt, form, seen)
        return arrays

    empty = pa.schema(layout.types().items()).empty_table()
    return _attempted(path, layout, parse, lambda: _arrays(empty, layout, Form.AS_IT_IS, Watched(None, layout)))


def fold_columns(
    path: PathLike, layout: LineLayout, fold: Callable[[Iterator[list[Any]]], T], progress: bool = False
) -> T:
    """The result of `fold` over the chunks of a file that does not fit into memory.

    A chunk is the result of `read_columns` for a megabyte of text. Where a chunk has unexpected types, such as a
    fraction after integers, `fold` is called again from the first chunk. Raises FileFormatError.
    """
    import pyarrow as pa

    wide = frozenset(i for i, kind in enumerate(layout.fields) if kind == "id")  # avoids a second pass for these
    layout = replace(layout, wide=layout.wide | wide)

    def parse(attempt: LineLayout, form: Form) -> T:
        with _chunks(path, attempt, form, progress) as (reader, seen):
            result = fold(_arrays(pa.Table.from_batches([batch]), attempt, form, seen) for batch in reader)
        _check_spelling(path, attempt, form, seen)
        return result

    return _attempted(path, layout, parse, lambda: fold(iter(())))


@contextmanager
def _chunks(path: PathLike, layout: LineLayout, form: Form, progress: bool) -> Iterator[Any]:
    """A reader of batches of a megabyte of text, and the observed stream."""
    from pyarrow import csv

    options = _options(layout, form)
    # read-ahead in threads takes twice the memory and saves a sixth of the time
    options["read_options"].use_threads, options["read_options"].block_size = False, 1 << 20
    with _source(path, layout, form, progress) as (source, seen), csv.open_csv(source, **options) as reader:
        yield reader, seen


def _attempted(path: PathLike, layout: LineLayout, parse: Callable[[LineLayout, Form], T], empty: Callable[[], T]) -> T:
    """The result of `parse` on the first readable form of the file, with the first types that fit."""
    import pyarrow as pa

    forms = [Form.AS_IT_IS, Form.STRAIGHTENED, Form.EXACT]
    if layout.inline:
        forms.remove(Form.AS_IT_IS)
    elif layout.literal:
        forms.remove(Form.STRAIGHTENED)
    elif "label" in layout.fields:
        forms.remove(Form.AS_IT_IS)  # any text is a label, so a comment between data lines would not fail
    message = ""
    for form in forms:
        attempt: LineLayout | None = layout
        while attempt is not None:
            try:
                return parse(attempt, form)
            except Odd:
                attempt = None
            except pa.ArrowInvalid as fault:
                message = str(fault)
                attempt = attempt.widened(message)
    if "Empty CSV file" in message:
        return empty()
    raise FileFormatError(path, message, "correct the file")


@contextmanager
def _source(path: PathLike, layout: LineLayout, form: Form, progress: bool) -> Iterator[tuple[Any, Watched]]:
    import pyarrow as pa

    with open_bytes(path, progress, layout.encoding) as stream:
        seen = Watched(stream, layout)
        source: Any = seen
        if form is Form.STRAIGHTENED:
            source = Pieces(straightened(seen, layout))
        elif form is Form.EXACT:
            source = Pieces(exact(path, stream, layout))
        yield pa.PythonFile(source, "r"), seen


def _options(layout: LineLayout, form: Form) -> dict[str, Any]:
    """The options of pyarrow's CSV reader for a layout."""
    from pyarrow import csv

    types = layout.types()
    delimiter, quoted, decimal = layout.delimiter, layout.quoted, layout.decimal
    if form is Form.EXACT:
        delimiter, quoted, decimal = ",", True, "."
    elif form is Form.AS_IT_IS and delimiter == BLANKS:
        delimiter = layout.blank
    marks = [kind[1:] for kind in layout.fields if kind.startswith("=")]
    names, skip = [str(i) for i in range(len(layout.fields))], layout.skip if form is Form.AS_IT_IS else 0
    quote: Any = '"' if quoted else False
    values: dict[str, Any] = {
        "decimal_point": decimal,
        "null_values": [],
        "true_values": marks,
        "false_values": [],
    }  # empty fields are errors
    return {
        "read_options": csv.ReadOptions(column_names=names, skip_rows=skip, block_size=1 << 22),
        "parse_options": csv.ParseOptions(delimiter=delimiter, quote_char=quote, newlines_in_values=form is Form.EXACT),
        "convert_options": csv.ConvertOptions(column_types=types, include_columns=list(types), **values),
    }


def _arrays(table: pyarrow.Table, layout: LineLayout, form: Form, seen: Watched) -> list[Any]:
    """The columns of a table; raises Odd for labels and ids to be read line by line."""
    arrays: list[Any] = []
    for i, kind in enumerate(layout.fields):
        if kind == "skip" or kind.startswith("="):
            arrays.append(None)
        elif kind == "label":
            arrays.append(table.column(str(i)))
            if form is not Form.EXACT:
                _check_labels(arrays[-1], layout)
        else:
            arrays.append(joined(table.column(str(i))))
        if kind == "id" and form is not Form.EXACT:
            _check_range(arrays[-1], layout)
        if kind in ("number", "real") and arrays[-1].dtype == np.float64:
            seen.infinite = seen.infinite or bool(np.isinf(arrays[-1]).any())
    return arrays


def _check_labels(column: pyarrow.ChunkedArray, layout: LineLayout) -> None:
    """Raise Odd for labels that are missing, have control characters, begin or end with a blank, or begin with a byte
    order mark or, where quotes are text, with a quote: for these, bare and quoted fields differ."""
    for chunk in filter(len, column.chunks):
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
        text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        if (ends[1:] == ends[:-1]).any() or (text[ends[0] : ends[-1]] < ord(" ")).any():
            raise Odd
        first = text[ends[:-1]]
        odd = (first == ord(" ")) | (text[ends[1:] - 1] == ord(" "))
        if not layout.quoted:
            odd |= first == ord('"')
        if odd.any() or any(text[at : at + 3].tobytes() == BYTE_ORDER_MARK for at in ends[:-1][first == 0xEF]):
            raise Odd


def _check_spelling(path: PathLike, layout: LineLayout, form: Form, seen: Watched) -> None:
    """Raise Odd for numbers that pyarrow accepts and this library does not: hexadecimal ones, and finite ones beyond
    float64. Reads the file again where there may be some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if seen.open_quotes and form is Form.AS_IT_IS:
        raise Odd
    if form is Form.EXACT or not (seen.hexadecimal or seen.infinite):
        return
    if layout.decimal != ".":
        raise Odd
    as_text = dict.fromkeys(NUMERIC, "label") | {"label": "skip"}
    texts = replace(layout, fields=tuple(as_text.get(kind, kind) for kind in layout.fields), wide=frozenset())
    with _chunks(path, texts, form, False) as (reader, _):
        for batch in reader:
            for i, kind in enumerate(texts.fields):
                if kind != "label":
                    continue
                text = batch.column(str(i))
                if pc.any(pc.match_substring(text, "0x", ignore_case=True)).as_py():
                    raise Odd
                if layout.fields[i] in ("number", "real"):
                    spelled = pc.match_substring(text, "inf", ignore_case=True)
                    finite = pc.utf8_trim_whitespace(text.filter(pc.invert(spelled))).cast(pa.float64())
                    if pc.any(pc.is_inf(finite)).as_py():
                        raise Odd


def joined(column: pyarrow.ChunkedArray) -> np.ndarray:
    """One writable array, as torch requires, of a column without missing numbers, from its buffers: `to_numpy` would
    import pandas, which takes longer than a small file."""
    whole = np.empty(len(column), dtype=column.type.to_pandas_dtype())
    filled = 0
    for chunk in filter(len, column.chunks):
        start = chunk.offset * whole.itemsize
        whole[filled : filled + len(chunk)] = np.frombuffer(chunk.buffers()[1], whole.dtype, len(chunk), start)
        filled += len(chunk)
    return whole


def _check_range(ids: np.ndarray, layout: LineLayout) -> None:
    if not ids.size or (layout.lowest == INT64.start and layout.highest is None):
        return
    if int(ids.min()) < layout.lowest or (layout.highest is not None and int(ids.max()) > layout.highest):
        raise Odd
