"""METIS graphs (.graph): line v lists the neighbours of vertex v (METIS manual 5.1, section 4.1.1)."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np
import torch

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import blocks, create_bytes, lines, open_bytes
from tgraph.io.columns import EXACT
from tgraph.io.edges import Rules, integer_weights, numbered_from_one, warn_of_ids
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.columns import first_lines
from tgraph.io.text.exact import show, whole_number

_COMMENT = re.compile(rb"(?m)^[ \t]*%[^\n]*\n?")
_BREAKS = bytes.maketrans(b" \t\r\v\f", b"\n\n\n\n\n")


@dataclass(frozen=True)
class Header:
    """`n m [fmt [ncon]]`: fmt has the digits vertex sizes, vertex weights, edge weights."""

    n: int
    m: int
    weighted: bool
    sized: bool  # whether a line begins with the size of its vertex
    num_weights: int  # of the vertex, which come next
    line: int

    @property
    def lead(self) -> int:
        """Numbers before the first neighbour of a line."""
        return self.sized + self.num_weights

    def lead_names(self) -> list[str]:
        """Names of these as columns."""
        weights = ["weight"] if self.num_weights == 1 else [f"weight{i + 1}" for i in range(self.num_weights)]
        return ["size"] * self.sized + weights


def read(
    path: PathLike,
    *,
    directed: bool | None = None,
    weights: bool | None = None,
    strict: bool = True,
    progress: bool = False,
) -> Graph:
    """Read a METIS graph, undirected unless `directed=True`; arguments are explained in `tgraph.read`.

    Every edge must be in the lines of both its vertices; `directed=True` reads the lists as arcs. Edge weights are
    int64, or float64 where some are not whole. Sizes and weights of vertices are the columns "size" and "weight", or
    "weight1", "weight2", ... of several. Vertices have the ids 1..n.
    `strict=False` takes any number of edges in the header, and an edge in the line of one vertex, once, with the weight
    that comes first; it warns where an edge has two.
    Raises FileFormatError if invalid.

    >>> with open("path.graph", "w") as file:
    ...     print("3 2", file=file)
    ...     print("2", file=file)
    ...     print("1 3", file=file)
    ...     print("2", file=file)
    >>> graph = tg.read("path.graph")
    >>> graph.num_edges, graph.vertices
    (2, tensor([1, 2, 3]))
    """
    header = _read_header(path)
    counts, numbers = _read_numbers(path, header, progress)
    if len(counts) != header.n:
        problem = f"the header declares {header.n} vertices, the file has {len(counts)} lines of neighbours"
        raise FileFormatError(path, problem, "the file is truncated or its header wrong", line=header.line)
    columns, counts, numbers = _without_lead(path, header, counts, numbers)
    step = 2 if header.weighted else 1
    odd = counts % step
    if odd.any():
        problem = "a neighbour without a weight"
        raise FileFormatError(path, problem, "fmt says that every neighbour has one", _line_of(path, header, odd))
    neighbors, values = numbers[0::step], numbers[1::2] if header.weighted and weights is not False else None
    if neighbors.dtype != np.int64:
        odd = ~np.isfinite(neighbors) | (neighbors != np.floor(neighbors))
        if odd.any():
            at = int(odd.argmax())
            problem = f"the neighbour {neighbors[at]} is not a whole number"
            vertex = np.arange(header.n) == np.searchsorted(np.cumsum(counts // step), at, side="right")
            raise FileFormatError(path, problem, "correct the line", _line_of(path, header, vertex))
        neighbors = np.clip(neighbors, 0, header.n + 1).astype(np.int64)
    offset = np.zeros(header.n + 1, dtype=np.int64)
    np.cumsum(counts // step, out=offset[1:])
    outside = (neighbors < 1) | (neighbors > header.n)
    if outside.any():
        at = int(outside.argmax())
        vertex = np.arange(header.n) == np.searchsorted(offset, at, side="right") - 1
        problem = f"the neighbour {neighbors[at]} is not between 1 and {header.n}"
        raise FileFormatError(path, problem, "correct the line or the header", _line_of(path, header, vertex))
    graph = _graph(path, header, offset, neighbors - 1, values, bool(directed), strict)
    return graph.with_columns(vertices=columns) if columns else graph


def _graph(
    path: PathLike,
    header: Header,
    offset: np.ndarray,
    neighbors: np.ndarray,
    values: np.ndarray | None,
    directed: bool,
    strict: bool,
) -> Graph:
    rows = np.repeat(np.arange(header.n), np.diff(offset))
    if not strict:
        src, dst = (rows, neighbors) if directed else (np.minimum(rows, neighbors), np.maximum(rows, neighbors))
        if values is not None and not directed:
            _warn_of_two_weights(path, src, dst, values)
        rules = Rules(directed, "keep" if directed else "first", num_vertices=header.n, listed_once=True)
        return numbered_from_one(rules.build(src, dst, values))
    entries, loops = len(neighbors), int((rows == neighbors).sum())
    expected = {2 * header.m, 2 * header.m - loops} | ({header.m} if directed else set())
    if entries not in expected:
        problem = f"the header declares {header.m} edges, which are {2 * header.m} entries; the lines have {entries}"
        remedy = "correct the header, or pass strict=False, or directed=True for lists of arcs"
        if directed:
            problem, remedy = f"{header.m} arcs declared, {entries} listed", "correct the header, or pass strict=False"
        raise FileFormatError(path, problem, remedy, line=header.line)
    weights = None if values is None else torch.from_numpy(np.ascontiguousarray(values))
    try:
        graph = Graph.from_csr(torch.from_numpy(offset), torch.from_numpy(neighbors), weights, directed=directed)
        return numbered_from_one(graph)
    except ArgumentError as fault:
        problem = "the lists are not symmetric: some vertex u lists v, and v lacks u or has another weight"
        remedy = "list every edge at both ends, or pass strict=False, or directed=True for lists of arcs"
        raise FileFormatError(path, problem, remedy) from fault


def _warn_of_two_weights(path: PathLike, src: np.ndarray, dst: np.ndarray, values: np.ndarray) -> None:
    order = np.lexsort((dst, src))  # stable
    src, dst, values = src[order], dst[order], values[order]
    at = np.flatnonzero((src[1:] == src[:-1]) & (dst[1:] == dst[:-1]) & (values[1:] != values[:-1]))
    if len(at):
        first, count = at[0], len(set(zip(src[at].tolist(), dst[at].tolist(), strict=True)))
        more = f", and so for {count - 1} more" if count > 1 else ""
        problem = f"the edge {src[first] + 1} {dst[first] + 1} has the weights {values[first]} and {values[first + 1]}"
        warnings.warn(f"{path}: {problem}: {values[first]}, which comes first, is taken{more}", stacklevel=5)


def _read_header(path: PathLike) -> Header:
    refuse_others(path, "metis")
    _, data = first_lines(path, "%", count=1)
    if not data:
        raise FileFormatError(path, "the file is empty: it has no header", "begin it with 'vertices edges'")
    number, words = data[0][0], data[0][1].split()
    numbers = [whole_number(word) for word in words]
    fmt = words[2].decode("latin-1").zfill(3) if len(words) > 2 else "000"
    if len(words) not in (2, 3, 4) or None in numbers or not re.fullmatch("[01]{3}", fmt):
        problem = f"expected the header 'vertices edges [fmt [ncon]]', found {show(data[0][1])}"
        raise FileFormatError(
            path, problem, 'fmt has three digits 0 or 1; format="edgelist" reads lists of edges', line=number
        )
    n, m, vertex_weights = (numbers[i] or 0 if i < len(numbers) else 1 for i in (0, 1, 3))
    return Header(n, m, fmt[2] == "1", fmt[0] == "1", int(fmt[1]) * vertex_weights, number)


def _read_numbers(path: PathLike, header: Header, progress: bool) -> tuple[np.ndarray, np.ndarray]:
    """(numbers per line, all numbers); blank lines after the last vertex are not counted."""
    counts, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    skip = header.line
    with open_bytes(path, progress) as stream:
        for block in blocks(stream):
            while skip and block:
                skip -= 1
                block = block.partition(b"\n")[2]
            block = _COMMENT.sub(b"", block)
            if not block:
                continue
            found = _numbers_per_line(block)
            if sum(map(len, counts)) >= header.n and not found.any():
                continue  # endless blank lines must not take memory
            counts.append(found)
            if found.any():
                if b"x" in block or b"X" in block:  # pyarrow reads 0x10 as 16
                    raise _not_a_number(path, header, "a hexadecimal number")
                numbers.append(_parsed(path, header, block.translate(_BREAKS)))
                if len(numbers[-1]) != found.sum():  # pyarrow ignores a byte order mark, counted as a word
                    raise _not_a_number(path, header, "a byte order mark where a number is expected")
    per_line = np.concatenate(counts)
    while len(per_line) > header.n and not per_line[header.n :].any():
        per_line = per_line[: header.n]
    return per_line, np.concatenate(numbers)


def _parsed(path: PathLike, header: Header, words: bytes) -> np.ndarray:
    """A number per line: int64, or float64 where some are not whole in a file with weights."""
    import pyarrow as pa
    from pyarrow import csv

    for kind in (pa.int64(), pa.float64())[: 2 if header.weighted else 1]:
        convert = csv.ConvertOptions(column_types={"v": kind}, null_values=[])
        try:
            table = csv.read_csv(pa.BufferReader(words), csv.ReadOptions(column_names=["v"]), convert_options=convert)
            return np.asarray(table.column("v").to_numpy())
        except pa.ArrowInvalid as fault:
            message = str(fault)
    raise _not_a_number(path, header, message)


def _numbers_per_line(block: bytes) -> np.ndarray:
    text = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", dtype=np.uint8)
    blank = text <= ord(" ")
    begins = ~blank
    begins[1:] &= blank[:-1]
    total = np.cumsum(begins)
    return np.diff(total[text == ord("\n")], prepend=0)


def _not_a_number(path: PathLike, header: Header, message: str) -> FileFormatError:
    with open_bytes(path) as stream:
        for number, line in lines(stream):
            if number <= header.line or line.lstrip().startswith(b"%"):
                continue
            for word in line.decode("utf-8", "backslashreplace").split():
                if not re.fullmatch(r"-?\d{1,18}", word) and not (header.weighted and _is_real(word)):
                    problem = f"{show(word.encode())} is not {'a number' if header.weighted else 'an integer'}"
                    return FileFormatError(path, problem, "only weights of edges, by fmt 1, may be real", line=number)
    return FileFormatError(path, message, "METIS files hold numbers only")


def _is_real(word: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", word) is not None


def _without_lead(
    path: PathLike, header: Header, counts: np.ndarray, numbers: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """(columns of the sizes and weights of vertices, the numbers per line without these, all numbers without them)."""
    if not header.lead or not len(counts):
        return {}, counts, numbers
    short = counts < header.lead
    if short.any():
        problem = f"short line: fmt says that {header.lead} sizes and weights of the vertex come first"
        remedy = "correct the line, or the fmt of the header"
        raise FileFormatError(path, problem, remedy, _line_of(path, header, short))
    begin = np.cumsum(counts) - counts
    place = np.arange(len(numbers)) - np.repeat(begin, counts)
    lead = np.ascontiguousarray(numbers[place < header.lead].reshape(-1, header.lead).T)
    whole = [((np.abs(each) < EXACT) & (each == np.floor(each))).all() for each in lead]
    columns = {
        name: each.astype(np.int64) if is_whole else each
        for name, each, is_whole in zip(header.lead_names(), lead, whole, strict=True)
    }
    return columns, counts - header.lead, numbers[place >= header.lead]


def _line_of(path: PathLike, header: Header, at_fault: np.ndarray) -> int:
    """The line number of the first vertex in the mask `at_fault`."""
    wanted = int(at_fault.argmax())
    with open_bytes(path) as stream:
        listed = (n for n, line in lines(stream) if n > header.line and not line.lstrip().startswith(b"%"))
        return next(number for vertex, number in enumerate(listed) if vertex == wanted)


def write(graph: Graph, path: PathLike) -> None:
    """Write an undirected graph, with integer edge weights, without original ids (a warning says so).

    Raises ArgumentError for a directed graph and for fractional weights.

    >>> from pathlib import Path
    >>> tg.write(tg.generators.path(3), "path.graph")
    >>> print(Path("path.graph").read_text())
    3 2
    2
    1 3
    2
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if graph.directed:
        raise ArgumentError("graph: a METIS file is undirected; write .mtx or .el, or take graph.to_undirected()")
    warn_of_ids(graph, "METIS")
    integer_weights(graph, "METIS")
    numbers, offset = graph.neighbors.cpu().numpy() + 1, graph.offset.cpu().numpy()
    fmt = ""
    if graph.weights is not None:
        numbers = np.stack((numbers, graph.weights.cpu().numpy()), axis=1).ravel()
        offset, fmt = 2 * offset, " 001"
    words = pa.array(numbers).cast(pa.string())
    rows = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(offset), words), " ")
    body = pc.binary_join(pa.LargeListArray.from_arrays(pa.array([0, len(rows)], pa.int64()), rows), "\n")
    with create_bytes(path) as file:
        file.write(f"{graph.num_vertices} {graph.num_edges}{fmt}\n".encode())
        file.write(body[0].as_buffer())
        file.write(b"\n" if graph.num_vertices else b"")
