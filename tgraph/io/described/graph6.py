"""graph6, sparse6 and digraph6 (.g6, .s6, .d6), of nauty: a graph in a line of printable characters."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes, open_bytes, stem
from tgraph.io.edges import Rules, edges_of, warn_of_ids
from tgraph.io.text.banners import refuse_others

_HEADERS = (b">>graph6<<", b">>sparse6<<", b">>digraph6<<")
_LARGEST = 1 << 16  # vertices of a matrix of bits, 512 MiB of them


def read(
    path: PathLike,
    *,
    directed: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
) -> Graph:
    """Read the one graph of a file, in any of the three formats; arguments are explained in `tgraph.read`.

    Vertices are 0..n-1. Raises FileFormatError for several graphs, and for characters that do not belong there.

    >>> import networkx
    >>> networkx.write_graph6(networkx.petersen_graph(), "petersen.g6")
    >>> tg.read("petersen.g6")
    Graph(10 vertices, 30 arcs, undirected, ... B, cpu)
    """
    refuse_others(path, "graph6")
    with open_bytes(path) as stream:
        lines = [line for line in bytes(stream.read()).split(b"\n") if line.strip()]
    if len(lines) != 1:
        raise FileFormatError(path, f"{len(lines)} graphs in the file", "write each to its own, by: split -l 1")
    line = lines[0].strip()
    for header in _HEADERS:
        line = line.removeprefix(header)
    kind = {b":": "sparse6", b"&": "digraph6"}.get(line[:1], "graph6")
    codes = np.frombuffer(line[kind != "graph6" :], dtype=np.uint8).astype(np.int64) - 63
    if not len(codes) or codes.min() < 0 or codes.max() > 63:
        raise FileFormatError(path, f"a character that is none of {kind}", "fetch the file again", line=1)
    wide = (1, 4, 8)[int(codes[0] == 63) + int(bool(len(codes) > 1 and codes[0] == 63 and codes[1] == 63))]
    size = codes[:wide][{1: 0, 4: 1, 8: 2}[wide] :]
    n = int(sum(int(code) << 6 * i for i, code in enumerate(reversed(size.tolist()))))
    bits = np.unpackbits(codes[wide:].astype(np.uint8)[:, None], axis=1)[:, 2:].reshape(-1)
    if kind == "sparse6":
        src, dst = _sparse(path, bits, n)
    else:
        src, dst = _dense(path, bits, n, kind == "digraph6")
    one_way = kind == "digraph6" if directed is None else directed
    rules = Rules(one_way, multi, self_loops, num_vertices=n, listed_once=kind != "digraph6")
    return rules.build(src, dst)


def _dense(path: PathLike, bits: np.ndarray, n: int, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    expected = n * n if directed else n * (n - 1) // 2
    if not expected <= len(bits) < expected + 6:
        problem = f"{len(bits) // 6} characters for the matrix of {n} vertices, which has {-(-expected // 6)}"
        raise FileFormatError(path, problem, "the file is truncated or damaged", line=1)
    places = np.flatnonzero(bits[:expected])
    if directed:
        return np.divmod(places, max(n, 1))
    column = ((1 + np.sqrt(1 + 8 * places.astype(np.float64))) / 2).astype(np.int64)
    column -= column * (column - 1) // 2 > places  # rounding of the root
    column += (column + 1) * column // 2 <= places
    return places - column * (column - 1) // 2, column


def _sparse(path: PathLike, bits: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    width = max(n - 1, 0).bit_length()
    count = len(bits) // (width + 1)
    groups = bits[: count * (width + 1)].reshape(count, width + 1).astype(np.int64)
    values = groups[:, 1:] @ (1 << np.arange(width - 1, -1, -1)) if width else np.zeros(count, dtype=np.int64)
    v, ends = 0, []
    for moves, x in zip(groups[:, 0].tolist(), values.tolist(), strict=True):
        v += moves
        if x >= n or v >= n:  # padding
            break
        if x > v:
            v = x
        else:
            ends.append((x, v))
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def write(graph: Graph, path: PathLike) -> None:
    """Write digraph6 for a directed graph, sparse6 for a file .s6 and for a graph with self-loops or parallel edges,
    else graph6.

    Original ids are not written (a warning says so). Raises ArgumentError for weights, for a directed graph with
    parallel edges, and for a matrix of more than 65536 vertices.

    >>> from pathlib import Path
    >>> tg.write(tg.generators.complete(4), "complete.g6")
    >>> print(Path("complete.g6").read_text())
    >>graph6<<C~
    """
    if graph.weights is not None:
        raise ArgumentError("graph.weights: graph6 holds no weights; write .mtx or .tg")
    warn_of_ids(graph, "graph6", first=0)
    src, dst, _ = (each.astype(np.int64) for each in (*edges_of(graph)[:2], np.empty(0)))
    n, directed = graph.num_vertices, graph.directed
    parallel = len(np.unique(src * n + dst)) < len(src)
    if directed and parallel:
        raise ArgumentError("graph: digraph6 holds no parallel edges; write .mtx or .tg, or merge them by multi=")
    sparse = not directed and (parallel or bool((src == dst).any()) or stem(Path(path)).suffix.lower() == ".s6")
    if not sparse and n > _LARGEST:
        raise ArgumentError(f"graph: the matrix of {n} vertices is too large for graph6; write .s6, .mtx or .tg")
    if sparse:
        head, bits = b">>sparse6<<:", _sparse_bits(src, dst, n)
    elif directed:
        head, bits = b">>digraph6<<&", np.zeros(n * n, dtype=np.uint8)
        bits[src * n + dst] = 1
    else:
        head, bits = b">>graph6<<", np.zeros(n * (n - 1) // 2, dtype=np.uint8)
        bits[dst * (dst - 1) // 2 + src] = 1
    bits = np.concatenate((bits, np.full(-len(bits) % 6, int(sparse), dtype=np.uint8)))
    codes = np.packbits(np.pad(bits.reshape(-1, 6), ((0, 0), (2, 0))), axis=1)[:, 0]
    with create_bytes(path) as file:
        file.write(head + _size(n) + (codes + 63).astype(np.uint8).tobytes() + b"\n")


def _size(n: int) -> bytes:
    digits = 1 if n < 63 else 3 if n < 1 << 18 else 6
    return b"~" * (digits // 3) + bytes(63 + (n >> 6 * i & 63) for i in range(digits - 1, -1, -1))


def _sparse_bits(src: np.ndarray, dst: np.ndarray, n: int) -> np.ndarray:
    width = max(n - 1, 0).bit_length()
    groups: list[tuple[int, int]] = []
    last = 0
    for v, x in sorted(zip(dst.tolist(), src.tolist(), strict=True)):
        if v > last + 1:
            groups.append((1, v))
            groups.append((0, x))
        else:
            groups.append((v - last, x))
        last = v
    values = [[moves, *((x >> i) & 1 for i in range(width - 1, -1, -1))] for moves, x in groups]
    bits = np.array(values, dtype=np.uint8).reshape(-1)
    # padding of ones must not read as a loop of the last vertex, where n is a power of 2
    if n in (2, 4, 8, 16) and last == n - 2 and -len(bits) % 6 > width:
        bits = np.append(bits, np.uint8(0))
    return bits
