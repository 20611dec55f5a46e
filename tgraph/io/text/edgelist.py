"""Edge lists: one edge per line, `source target [weight ...]` (SNAP, KONECT, GAPBS, networkx)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import encoding_of, stem
from tgraph.io.described import dicts
from tgraph.io.edges import Ids, Rules, named_edges, write_rows
from tgraph.io.text.banners import refuse_head, refuse_others
from tgraph.io.text.columns import first_lines, read_columns
from tgraph.io.text.exact import show
from tgraph.io.text.line_layout import BLANKS, INT64, LineLayout, check_delimiter
from tgraph.io.text.names import Columns, further_columns

COMMENTS = "#%"
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_ODD_NUMBER = re.compile(NUMBER.pattern + rb"|[-+]?0[xX][0-9a-fA-F]+|[-+]?\d+(_\d+)+")  # other notations too
_SPELLED = re.compile(rb"[^a-zA-Z].*|nan|inf(inity)?", re.IGNORECASE)  # a number, or one misspelled
_INTEGER = re.compile(rb"-?\d+")
_UNDIRECTED = re.compile(rb"#\s*undirected graph\b", re.IGNORECASE)
_EMPTY = re.compile(rb"# (Und|D)irected graph without edges$")  # written for a graph without edges
_KONECT = re.compile(rb"%\s*(sym|asym|bip)\b")
_UNSAFE = re.compile(r"[\s,;\"\0]|^[#%\ufeff]|^$")


def read(path: PathLike, *, progress: bool = False, **options: Any) -> Graph:
    """Read an edge list; `options` as of `plan`, `progress` as of `tgraph.read`.

    Lines of networkx, `source target {'weight': 3}`, are read too, with all data as columns unless `columns` says
    otherwise; and an .ncol where some lines have no weight, which is 1 there. Raises FileFormatError for an invalid
    line.

    >>> with open("friends.el", "w") as file:
    ...     print("# source target", file=file)
    ...     print("ann bob", file=file)
    ...     print("bob eve", file=file)
    >>> tg.read("friends.el", directed=False)
    Graph(3 vertices, 4 arcs, undirected, labels, ... B, cpu)
    """
    if options.get("source") is options.get("target") is None and _has_dicts(path, **options):
        notes, _ = first_lines(path, COMMENTS, options.get("skip", 0))
        return dicts.read(path, directed_by_default=_directed(path, notes, None), **options)
    try:
        return plan(path, **options).read(path, progress)
    except FileFormatError:
        if stem(path).suffix.lower() != ".ncol":
            raise
    return dicts.read(path, **options)


def _has_dicts(
    path: PathLike, skip: int = 0, encoding: str | None = None, comments: str | None = COMMENTS, **others: Any
) -> bool:
    _, data = first_lines(path, check_comments(comments), skip, count=1, encoding=encoding_of(path, encoding))
    return bool(data) and dicts.LINE.fullmatch(data[0][1]) is not None


@dataclass(frozen=True)
class Plan:
    """The plan for reading an edge list. `layout` is None for a file without edges; `source`, `target` and `weight` (or
    None) are 0-based columns. `taken` : their names, and the columns left out."""

    rules: Rules
    layout: LineLayout | None
    weight: int | None = None
    source: int = 0
    target: int = 1
    taken: Columns | None = None
    further: tuple[tuple[str, int], ...] = ()

    @property
    def kind(self) -> str | None:
        """ "id" for integer ids of vertices, "label" for text; None without edges."""
        return None if self.layout is None else self.layout.fields[self.source]

    def read(self, path: PathLike, progress: bool) -> Graph:
        """The graph in the file."""
        if self.layout is None:
            return self.rules.build(np.empty(0, np.int64), np.empty(0, np.int64))
        try:
            arrays = read_columns(path, self.layout, progress)
        except FileFormatError:
            way = next((i for i, kind in enumerate(self.layout.fields) if kind.startswith("=")), None)
            if way is None:
                raise
            return self._read_mixed(path, self.layout, way, progress)
        return self.rules.build(*self.columns(arrays), {name: arrays[column] for name, column in self.further})

    def _read_mixed(self, path: PathLike, layout: LineLayout, way: int, progress: bool) -> Graph:
        """The graph of edges of which some are directed, as the column `way` says: both arcs of the others."""
        import pyarrow.compute as pc

        fields = tuple("label" if i == way else kind for i, kind in enumerate(layout.fields))
        arrays = read_columns(path, replace(layout, fields=fields), progress)
        said = pc.utf8_lower(arrays[way])
        odd = next((each for each in said.unique().to_pylist() if each not in ("directed", "undirected")), None)
        if odd is not None:
            problem = f"an edge is of the type {show(odd.encode())}, neither directed nor undirected"
            raise FileFormatError(path, problem, "correct it, or pass directed=")
        back = np.flatnonzero(np.array(said.to_pylist()) == "undirected")
        src, dst, weights = self.columns(arrays)
        ends = [
            each if isinstance(each, np.ndarray) else np.array(each.to_pylist(), dtype=object) for each in (src, dst)
        ]
        back = back[(ends[0] != ends[1])[back]] if len(back) < len(said) else back[:0]
        data = {name: _extended(arrays[column], arrays[column], back) for name, column in self.further}
        weights = None if weights is None else _extended(weights, weights, back)
        rules = replace(self.rules, directed=True) if len(back) else self.rules
        return rules.build(_extended(src, dst, back), _extended(dst, src, back), weights, data)

    def columns(self, arrays: list[Any]) -> tuple[Any, Any, Any]:
        """(sources, targets, weights or None) among the arrays of the layout's fields."""
        return arrays[self.source], arrays[self.target], None if self.weight is None else arrays[self.weight]


def plan(
    path: PathLike,
    directed: bool | None = None,
    weights: bool | int | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    delimiter: str | None = None,
    skip: int = 0,
    columns: bool | Sequence[str | int] | None = None,
    quoted: bool = False,
    comments: str | None = COMMENTS,
    encoding: str | None = None,
    source: int | None = None,
    target: int | None = None,
) -> Plan:
    """The plan for reading a file, from its first lines; arguments are explained in `tgraph.read`.

    Fields are separated by blanks, tabs, commas or semicolons, detected from the first data line unless `delimiter` is
    given. Lines that begin with # or % are comments anywhere in the file, and other `comments` may end a line, too; the
    first `skip` lines are ignored.
    `quoted=True`: fields may be quoted with ", as in CSV. `source`, `target` : the columns of the ends, by default 1
    and 2; with others there are no weights unless `weights` names their column, nor are there where column 3 is text
    beside integer ids, except in .wel.
    Without `directed` the list is directed, unless its header says undirected (SNAP) or sym (KONECT).
    Raises FileFormatError for a file without edges, an invalid first line, or another format.
    """
    check_delimiter(delimiter)
    ends = _end_columns(source, target)
    comments = check_comments(comments)
    encoding = encoding_of(path, encoding)
    if not skip and comments == COMMENTS:
        refuse_others(path, "edgelist", encoding)
    notes, data = first_lines(path, comments, skip, encoding=encoding)
    rules = Rules(_directed(path, notes, directed), multi, self_loops, ids)
    if not data:
        if any(map(_EMPTY.match, notes)):
            return Plan(rules, None)
        raise FileFormatError(path, "the file is empty: it has no line with an edge", "check that it is the right file")
    inline = comments != COMMENTS
    layout = LineLayout((), comments=comments, inline=inline, encoding=encoding)
    data = [(number, layout.without_comments(line)) for number, line in data]
    delimiter = delimiter or guess_delimiter(data[0][1])
    blank = " " if b" " in data[0][1].strip() else "\t"
    lowest = 0 if ids == "keep" else INT64.start  # other ids are relabelled
    layout = replace(layout, delimiter=delimiter, blank=blank, skip=data[0][0] - 1, lowest=lowest, quoted=quoted)
    rows = [(number, layout.split(line)) for number, line in data]
    width = len(rows[0][1])
    kind = id_kind(path, [(number, [fields[i] for i in ends if i < len(fields)]) for number, fields in rows], ids)
    if width <= max(ends) and width >= 2:
        problem = f"column {max(ends) + 1} is asked for, the first data line has {width}"
        raise FileFormatError(path, problem, "name others by source= and target=", line=rows[0][0])
    if width < 2:
        raise FileFormatError(
            path,
            f"short line, only {width} column where an edge needs 2 at least",
            f"skip={rows[0][0]} ignores the lines down to this one, delimiter= sets the separator of columns",
            line=rows[0][0],
        )
    fields = [kind if i in ends else "skip" for i in range(width)]
    unweighted = weights is None and kind == "id" and stem(path).suffix.lower() != ".wel"
    if unweighted and width > 2 and not _SPELLED.fullmatch(rows[0][1][2]):
        weights = False  # a column of text, which `columns` takes
    column = weight_column(path, width, weights, rows[0][0], ends)
    if column is not None:
        fields[column] = "number"
    first = rows[0][1]
    more = [i + 1 for i in range(width) if i not in ends]
    asked = further_columns(path, more, (None if column is None else column + 1,), columns)
    further = tuple((str(number), int(number) - 1) for number in asked)
    kinds, wide_ones = further_kinds(further, first, column)
    left = {number for number in more if number - 1 != column}
    numbers = tuple(number for number in sorted(left) if NUMBER.fullmatch(rows[0][1][number - 1]))
    others = tuple(sorted(left.difference(numbers)))
    taken = Columns(ends[0] + 1, ends[1] + 1, None if column is None else column + 1, numbers, others)
    fields = [kinds.get(i, kind) for i, kind in enumerate(fields)]
    layout = replace(layout, fields=tuple(fields), wide=wide(column, first) | wide_ones)
    return Plan(rules, layout, column, *ends, taken, further)


def _end_columns(source: int | None, target: int | None) -> tuple[int, int]:
    """The 0-based columns of the ends of edges."""
    ends = (1 if source is None else source, 2 if target is None else target)
    for name, column in zip(("source", "target"), ends, strict=True):
        if type(column) is not int or column < 1 or ends[0] == ends[1]:
            raise ArgumentError(
                f"{name}: expected the number of a column, from 1, other than the other, got {column!r}"
            )
    return ends[0] - 1, ends[1] - 1


def _extended(one: Any, other: Any, rows: np.ndarray) -> Any:
    """A column, and below it rows of another one."""
    if isinstance(one, np.ndarray):
        return np.concatenate((one, other[rows]))
    import pyarrow as pa

    return pa.chunked_array([*one.chunks, *other.take(pa.array(rows)).chunks], type=one.type)


def further_kinds(
    further: Sequence[tuple[str, int]], first: list[bytes], weight: int | None
) -> tuple[dict[int, str], frozenset[int]]:
    """(the kind of each column of data of the edges but the weights: numbers where the first line has one, else text;
    those that are float64)."""
    numbers = {column for _, column in further if column < len(first) and NUMBER.fullmatch(first[column])}
    kinds = {column: "number" if column in numbers else "label" for _, column in further if column != weight}
    return kinds, frozenset(column for column in numbers if not _INTEGER.fullmatch(first[column]))


def columns(path: PathLike, **options: Any) -> Columns | None:
    """The columns that `read` takes with these options; None for a file that declares no edges, and one of dicts."""
    by_number = options.get("source", options.get("target")) is not None
    return None if not by_number and _has_dicts(path, **options) else plan(path, **options).taken


def check_comments(comments: str | None) -> str:
    """The characters that begin comments, "" for None. Raises ArgumentError for others than ASCII punctuation."""
    if comments is not None and (not isinstance(comments, str) or not re.fullmatch(r"[!-/:-@\[-`{-~]+", comments)):
        raise ArgumentError(f"comments: expected ASCII punctuation as in '#' or '#%', or None, got {comments!r}")
    return comments or ""


def wide(column: int | None, first: list[bytes]) -> frozenset[int]:
    """The column of the weights, to be read as float64, if the first weight is not an integer."""
    return frozenset() if column is None or _INTEGER.fullmatch(first[column]) else frozenset({column})


def guess_delimiter(line: bytes) -> str:
    """The delimiter of a data line: blanks between integers, else the first found of ; , tab and blanks."""
    head = line.split()[:2]
    if len(head) == 2 and all(_INTEGER.fullmatch(field) for field in head):
        return BLANKS
    return next((mark for mark in ";,\t" if mark.encode() in line.strip()), BLANKS)


def id_kind(path: PathLike, rows: list[tuple[int, list[bytes]]], ids: Ids) -> str:
    """Whether the ids in the first rows are integers ("id") or text ("label")."""
    if ids == "text":
        return "label"
    integers = [all(_INTEGER.fullmatch(field) for field in fields[:2]) for _, fields in rows]
    if integers[0] or ids in ("compact", "keep"):
        return "id"
    line, fields = rows[0]
    ends = fields[:2]
    if len(ends) == 2 and any(map(NUMBER.fullmatch, ends)) and all(map(_ODD_NUMBER.fullmatch, ends)):
        odd = next(field for field in ends if not _INTEGER.fullmatch(field))
        problem = f"the id {show(odd)} is a number, but not an integer"
        raise FileFormatError(path, problem, 'correct the line, or read labels: ids="text"', line=line)
    if any(integers) and len(rows[0][1]) >= 2:
        raise FileFormatError(
            path,
            f"{show(b' '.join(fields[:2]))} stands where the next line has integer ids",
            f'skip={line} ignores it if it is a header, ids="text" reads all ids as labels',
            line=line,
        )
    return "label"


def weight_column(
    path: PathLike, width: int, weights: bool | int | None, line: int, ends: tuple[int, int] = (0, 1)
) -> int | None:
    """The 0-based column of the weights, or None: the third one if present, after two `ends` in columns 1 and 2, unless
    the options say otherwise."""
    if weights is False or (weights is None and (width < 3 or ends != (0, 1))):
        return None
    column = 3 if weights is None or weights is True else weights
    if not isinstance(column, int) or column < 1 or column - 1 in ends:
        known = "from 3 upwards" if ends == (0, 1) else "that is none of the ends"
        raise ArgumentError(f"weights: expected False or the number of a column {known}, got {weights!r}")
    if column > width:
        problem = f"weights={weights} asks for column {column}, the first data line has {width}"
        raise FileFormatError(path, problem, "name an existing column, or pass weights=False", line=line)
    return column - 1


def _directed(path: PathLike, notes: list[bytes], directed: bool | None) -> bool:
    """The option of the caller, else the header of KONECT or SNAP, else directed."""
    header = next((match[1] for match in map(_KONECT.match, notes) if match), None)
    if header == b"bip" and directed is None:
        problem = "a bipartite KONECT list, whose left and right vertices share the same numbers"
        raise FileFormatError(path, problem, "number the right vertices apart, or pass directed= to read it as it is")
    if directed is not None:
        return directed
    # SNAP's "Directed graph (each unordered pair of nodes is saved once)" is ambiguous: only "undirected" counts
    return header != b"sym" and not any(map(_UNDIRECTED.match, notes))


def write(graph: Graph, path: PathLike) -> None:
    """Write `source target [weight]` lines with the original ids, each undirected edge once.

    The first line of an undirected graph says so, as in SNAP. Isolated vertices are not written (a warning gives their
    number). Raises ArgumentError for labels that would not be read back: with blanks, commas, semicolons or quotes,
    empty, like a comment, or numbers in the first edges.

    >>> from pathlib import Path
    >>> tg.write(tg.generators.path(3), "path.el")
    >>> print(Path("path.el").read_text())
    # Undirected graph
    0 1
    1 2
    """
    columns = named_edges(graph, "an edge list")
    if isinstance(graph.vertices, np.ndarray):
        check_labels(graph.vertices, _UNSAFE, "an edge list")
        check_read_as_labels(columns, 2, "an edge list")
    header = "" if graph.directed else "# Undirected graph\n"
    if not graph.num_arcs:
        header = f"# {'Directed' if graph.directed else 'Undirected'} graph without edges\n"
    write_rows(path, header, columns)


def check_labels(labels: np.ndarray, unsafe: re.Pattern[str], purpose: str) -> None:
    """Raise ArgumentError for the first label that matches the pattern `unsafe`."""
    for label in labels:
        if unsafe.search(label):
            raise ArgumentError(f"graph.vertices: the label {label!r} cannot stand in {purpose}; write .parquet or .tg")


def check_read_as_labels(columns: dict[str, Any], count: int, purpose: str) -> None:
    """Raise ArgumentError unless a reader, which decides by the first `count` edges, would read ids as labels."""
    first = list(zip(columns["source"][:count], columns["target"][:count], strict=True))
    rows = [(number, [label.encode() for label in row]) for number, row in enumerate(first, 1)]
    if not rows:
        return
    try:
        lines = zip(*(column[:count] for column in columns.values()), strict=True)  # with the weights
        refuse_head("", "\n".join(" ".join(map(str, line)) for line in lines).encode(), "edgelist")
        taken = id_kind("", rows, "auto") == "label"
    except FileFormatError:
        taken = False
    if not taken:
        raise ArgumentError(
            f"graph.vertices: the first labels {', '.join(map(repr, first[0]))} would not be read back as text from "
            f"{purpose}; write .parquet or .tg instead"
        )
