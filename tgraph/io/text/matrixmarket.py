"""MatrixMarket (.mtx): a sparse or dense matrix is a graph; https://math.nist.gov/MatrixMarket/formats.html."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import lines, open_bytes
from tgraph.io.edges import Rules, check_declared, edges_of, numbered_from_one, warn_of_ids, write_rows
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.columns import first_lines, last_line_before_data, read_columns
from tgraph.io.text.exact import show, whole_number
from tgraph.io.text.line_layout import LineLayout

_FIELDS = {"pattern": None, "integer": "integer", "unsigned-integer": "integer", "real": "real"}
_FIELDS |= {"double": "real", "complex": "complex"}
_FORTRAN = re.compile(rb"[-+]?[\d.]+[dD][-+]?\d+")  # an exponent of Fortran's double precision
# LAGraph writes integral or infinite doubles as integer, with their type below the header
_REAL_TYPE = re.compile(r"%%GraphBLAS\s+type\s+(double|float)\s*$")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_BANNER = "%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric"


@dataclass(frozen=True)
class Header:
    """The banner and the size line."""

    layout: str  # coordinate or array
    field: str | None  # the kind of the values, None for a pattern
    symmetry: str
    rows: int
    columns: int
    entries: int
    line: int  # of the sizes

    @property
    def bipartite(self) -> bool:
        """Whether rows and columns are vertices of their own."""
        return self.rows != self.columns

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.rows + self.columns if self.bipartite else self.rows


def read(
    path: PathLike,
    *,
    directed: bool | None = None,
    weights: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    progress: bool = False,
) -> Graph:
    """Read a matrix: entry (i, j) is the arc i -> j; arguments are explained in `tgraph.read`.

    A symmetric matrix is an undirected graph, any other a directed one unless `directed` is given. A skew-symmetric one
    has both arcs, with opposite weights. The non-zero entries of a dense matrix are arcs. Values are int64 (integer) or
    float64 (real, or declared so in a %%GraphBLAS line). Every row is a vertex, isolated or not, with the id 1..n.
    A hermitian matrix is symmetric; of complex numbers `weights=False` reads the structure. A rectangular matrix is an
    undirected bipartite graph: rows are the vertices from 1, columns those after them.
    Raises FileFormatError for invalid files, and complex matrices and vectors.

    >>> with open("a.mtx", "w") as file:
    ...     print("%%MatrixMarket matrix coordinate real symmetric", file=file)
    ...     print("3 3 2", file=file)
    ...     print("2 1 0.5", file=file)
    ...     print("3 1 4", file=file)
    >>> graph = tg.read("a.mtx")
    >>> graph.directed, graph.vertices, graph.weights
    (False, tensor([1, 2, 3]), tensor([0.5000, 4.0000, 0.5000, 4.0000], dtype=torch.float64))
    """
    header = _read_header(path, weights is False)
    check_declared(path, header.size, header.entries, header.line)
    read_entries = _read_coordinate if header.layout == "coordinate" else _read_array
    if weights is False and header.layout == "coordinate" and header.field not in (None, "complex"):
        header = replace(header, field="skip")
    src, dst, values = read_entries(path, header, progress)
    if weights is False:
        values = None
    is_symmetric = header.symmetry == "symmetric" or header.bipartite
    if header.bipartite:
        dst = dst + header.rows
    if header.symmetry == "skew-symmetric":
        if values is not None and values.dtype == np.int64 and (values == np.iinfo(np.int64).min).any():
            raise FileFormatError(path, "the value -2^63 has no opposite in 64 bits", "write the matrix as real")
        src, dst = np.concatenate((src, dst)), np.concatenate((dst, src))
        values = None if values is None else np.concatenate((values, -values))
    one_way = not is_symmetric if directed is None else directed
    if header.symmetry == "symmetric" and one_way:
        loop = src == dst
        src, dst = np.concatenate((src, dst[~loop])), np.concatenate((dst, src[~loop]))
        values = None if values is None else np.concatenate((values, values[~loop]))
    return numbered_from_one(Rules(one_way, multi, self_loops, num_vertices=header.size).build(src, dst, values))


def _read_header(path: PathLike, structure: bool = False) -> Header:
    refuse_others(path, "matrixmarket")
    with open_bytes(path) as stream:
        top = [line.decode("latin-1") for _, line in itertools.islice(lines(stream), 2)] + ["", ""]
    banner = top[0].split()
    words = [word.lower() for word in banner]
    if not words or words[0] not in ("%%matrixmarket", "%matrixmarket"):
        raise FileFormatError(path, "the %%MatrixMarket header is missing", f"begin the file with {_BANNER}", line=1)
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise FileFormatError(
            path, f"the header {show(' '.join(banner).encode())} is malformed", f"write {_BANNER}", line=1
        )
    _, _, layout, field, symmetry = words
    structure &= layout == "coordinate"
    if field == "complex" and not structure:
        remedy = "weights=False reads its structure" if layout == "coordinate" else "write real or integer entries"
        raise FileFormatError(path, f"a {field} {symmetry} matrix has complex weights", remedy, line=1)
    if symmetry == "hermitian" and field != "pattern":
        symmetry = "symmetric"
    if field not in _FIELDS or symmetry not in _SYMMETRIES or (layout == "array" and field == "pattern"):
        problem = f"the header asks for the unknown combination {show(f'{layout} {field} {symmetry}'.encode())[1:-1]}"
        raise FileFormatError(path, problem, f"write {_BANNER}", line=1)
    if field == "integer" and _REAL_TYPE.match(top[1]):
        field = "real"
    line, sizes = _read_sizes(path, 3 if layout == "coordinate" else 2)
    n, columns = sizes[:2]
    if n != columns and (1 in (n, columns) or symmetry != "general"):
        kind = f"a {symmetry} matrix" if symmetry != "general" else "a vector"
        problem = f"{kind} of {n} x {columns}"
        raise FileFormatError(path, problem, "a graph needs a square matrix, or a general one of several rows", line)
    dense = {"general": n * columns, "symmetric": n * (n + 1) // 2, "skew-symmetric": n * (n - 1) // 2}[symmetry]
    return Header(layout, _FIELDS[field], symmetry, n, columns, sizes[2] if layout == "coordinate" else dense, line)


def _read_sizes(path: PathLike, expected: int) -> tuple[int, list[int]]:
    _, data = first_lines(path, "%", count=1)
    if not data:
        raise FileFormatError(path, "the line with the sizes of the matrix is missing", "the file is truncated")
    line, text = data[0]
    sizes = [whole_number(word) for word in text.split()]
    # some writers add the number of entries for an array
    if len(sizes) not in (expected, 3) or None in sizes:
        shape = "rows columns entries" if expected == 3 else "rows columns"
        problem = f"expected the sizes {shape!r}, found {show(text)}"
        raise FileFormatError(path, problem, "correct the size line", line=line)
    return line, [size for size in sizes if size is not None]


def _read_coordinate(path: PathLike, header: Header, progress: bool) -> tuple[np.ndarray, np.ndarray, Any]:
    fields: tuple[str, ...] = ("id", "id") if header.field is None else ("id", "id", header.field)
    if header.field == "complex":
        fields = ("id", "id", "skip", "skip")
    skip = last_line_before_data(path, "%", header.line)
    _, first = first_lines(path, "%", header.line, count=1)
    if header.field == "real" and first and _FORTRAN.fullmatch(first[0][1].split()[-1]):
        fields = (*fields[:2], "label")
    layout = LineLayout(fields, skip=skip, comments="%", lowest=1, highest=max(header.rows, header.columns))
    src, dst, *values = read_columns(path, layout, progress)
    if header.field == "complex":
        values = []
    if "label" in fields:
        values = [_from_fortran(path, values[0])]
    _check_count(path, header, len(src))
    for name, ends, size in (("row", src, header.rows), ("column", dst, header.columns)):
        if header.bipartite and (ends > size).any():
            problem = f"the {name} {ends.max()} is above the declared number of {name}s {size}"
            raise FileFormatError(path, problem, "correct the entry or the size line", line=header.line)
    src -= 1
    dst -= 1
    both = header.symmetry != "general" and bool((src < dst).any() and (src > dst).any())
    if both and header.symmetry == "symmetric" and _mirrored(src, dst, values):
        lower = src >= dst
        src, dst, values = src[lower], dst[lower], [each[lower] for each in values]
    elif both:
        problem = f"a {header.symmetry} matrix lists one triangle, this one has entries on both sides of the diagonal"
        raise FileFormatError(path, problem, "write it as general, or keep the lower triangle", line=1)
    if header.symmetry == "skew-symmetric" and (src == dst).any():
        raise FileFormatError(path, "a skew-symmetric matrix has no diagonal entries", "remove them", line=1)
    return src, dst, values[0] if values else None


def _mirrored(src: np.ndarray, dst: np.ndarray, values: list[Any]) -> bool:
    """Whether every entry has one of the same value on the other side of the diagonal."""
    given = [each for each in values if each is not None]
    one, other = np.lexsort((*given, dst, src)), np.lexsort((*given, src, dst))
    return all(np.array_equal(a[one], b[other]) for a, b in ((src, dst), (dst, src), *((each, each) for each in given)))


def _from_fortran(path: PathLike, column: Any) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.array(pc.replace_substring_regex(column, "[dD]", "e").cast(pa.float64()))
    except pa.ArrowInvalid as fault:
        raise FileFormatError(path, str(fault), "values are numbers, as 1.5D+02") from fault


def _read_array(path: PathLike, header: Header, progress: bool) -> tuple[np.ndarray, np.ndarray, Any]:
    layout = LineLayout((header.field or "real",), skip=header.line, comments="%")
    (values,) = read_columns(path, layout, progress)
    _check_count(path, header, len(values))
    n = header.rows
    if header.symmetry == "general":
        column, row = np.divmod(np.arange(header.entries), max(header.rows, 1))
    else:  # the lower triangle, column-major
        column, row = np.triu_indices(n, k=0 if header.symmetry == "symmetric" else 1)
    present = values != 0
    return row[present], column[present], values[present]


def _check_count(path: PathLike, header: Header, found: int) -> None:
    if found != header.entries:
        problem = f"the header declares {header.entries} entries, the file has {found}"
        raise FileFormatError(path, problem, "the file is truncated or its size line wrong", line=header.line)


def write(graph: Graph, path: PathLike) -> None:
    """Write a coordinate matrix: symmetric (lower triangle) for an undirected graph, else general.

    Original ids are not written (a warning says so).

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "a.mtx")
    >>> print(Path("a.mtx").read_text())
    %%MatrixMarket matrix coordinate integer general
    3 3 2
    1 2 3
    2 3 7
    """
    warn_of_ids(graph, "MatrixMarket")
    src, dst, weights = edges_of(graph)
    row, column = (src, dst) if graph.directed else (dst, src)  # src <= dst, and the lower triangle has row >= column
    field = "pattern" if weights is None else "real" if weights.dtype.kind == "f" else "integer"
    symmetry = "general" if graph.directed else "symmetric"
    n = graph.num_vertices
    columns = {"row": row + 1, "column": column + 1}
    if weights is not None:
        columns["value"] = weights
    write_rows(path, f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {len(src)}\n", columns)
