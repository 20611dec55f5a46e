"""Serialized graphs of the GAP Benchmark Suite (.sg, and .wsg with weights): its CSR arrays, in 32 bits."""

from __future__ import annotations

import os

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing_by
from tgraph.io.edges import integer_weights, warn_of_ids
from tgraph.io.text.banners import refuse_others

_HEAD = np.dtype([("directed", "?"), ("m", "<i8"), ("n", "<i8")])


def read(path: PathLike, *, directed: bool | None = None, weights: bool | None = None) -> Graph:
    """Read the arrays of a file; whether it has weights follows from its size.

    `directed` overrides the file; `weights=False` drops the weights.

    Raises FileFormatError for a file of another size than its header says.

    >>> tg.write(tg.generators.path(3), "path.sg")
    >>> tg.read("path.sg")
    Graph(3 vertices, 4 arcs, undirected, ... B, cpu)
    """
    remedy = "the file is truncated, or of another format; write it again by converter of GAPBS"
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(_HEAD.itemsize)
        if len(head) < _HEAD.itemsize or head[0] > 1:
            refuse_others(path, "gapbs")
            raise FileFormatError(path, "no header of a serialized graph", remedy)
        said = np.frombuffer(head, _HEAD)[0]
        n, m, sides = int(said["n"]), int(said["m"]), 1 + int(said["directed"])
        found = [each for each in (4, 8) if size == _HEAD.itemsize + sides * (8 * (n + 1) + m * each)]  # of an arc
        if n < 0 or m < 0 or not found:
            refuse_others(path, "gapbs")
            raise FileFormatError(path, f"{size} bytes, not those of {n} vertices and {m} arcs", remedy)
        kind = found[0]
        offset = np.fromfile(file, "<i8", n + 1)
        numbers = np.fromfile(file, "<i4", m * kind // 4).reshape(m, kind // 4)
    values = None if kind == 4 or weights is False else numbers[:, 1].astype(np.int64)
    try:
        one_way = bool(said["directed"]) if directed is None else directed
        return Graph.from_csr(offset, numbers[:, 0].copy(), values, directed=one_way)
    except ArgumentError as fault:
        raise FileFormatError(path, str(fault), remedy) from fault


def write(graph: Graph, path: PathLike) -> None:
    """Write the arrays, with integer weights where there are some: GAPBS takes .sg without and .wsg with weights.

    Original ids are not written (a warning says so). Raises ArgumentError for floating weights, and for weights and
    vertices beyond 32 bits.

    >>> tg.write(tg.generators.cycle(4), "ring.sg")
    >>> tg.read("ring.sg").num_edges
    4
    """
    warn_of_ids(graph, "GAPBS", first=0)
    integer_weights(graph, "GAPBS")
    weights = graph.weights
    if weights is not None and len(weights) and not -(2**31) <= int(weights.min()) <= int(weights.max()) < 2**31:
        raise ArgumentError("graph.weights: GAPBS holds those of 32 bits; write .tg or .mtx")
    if graph.num_vertices >= 2**31:
        raise ArgumentError(f"graph: GAPBS numbers vertices in 32 bits, there are {graph.num_vertices}; write .tg")
    sides = [graph, graph.transpose()] if graph.directed else [graph]
    with replacing_by(path) as file:
        head = np.zeros(1, _HEAD)
        head["directed"], head["m"], head["n"] = graph.directed, graph.num_arcs, graph.num_vertices
        file.write(head.tobytes())
        for side in sides:
            file.write(side.offset.cpu().numpy().astype("<i8").tobytes())
            numbers = [side.neighbors, *([] if side.weights is None else [side.weights])]
            file.write(np.stack([each.cpu().numpy().astype("<i4") for each in numbers], axis=1).tobytes())
