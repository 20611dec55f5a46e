"""The container of TGraph (.tg): a memory-mapped safetensors file.

Tensors: offset int64 [n + 1], neighbors int32 or int64 [m], and optionally weights [m], vertices int64 [n], or
vertex_text uint8 and vertex_text_offset int64 [n + 1] for labels, and order int64 [n] of a permuted graph. The metadata
are format, version, directed, num_vertices, and tuned, the measurements of `tgraph.tune` on it, if any. A graph in a
layout (version 2) has the tensors of the layout in place of the first three, with the prefix "layout."; the metadata
also have layout, its name, and options, in JSON. The data begin at a page boundary, so that any safetensors reader can
map them. Every byte is covered by a checksum (`tgraph.files.checksummed`), which readers may ignore. A file of version
3 or 4 is partitioned into blocks; see `tgraph.stream.file.container`. A file with columns of arcs or vertices is of
version 5, with the tensors of `tgraph.io.named_data`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

from torch import Tensor

from tgraph import formats
from tgraph.core.graph import Graph
from tgraph.deferred import attach
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike, checksummed
from tgraph.files.checksummed import Contents, as_bytes, contents
from tgraph.io import labels, named_data
from tgraph.io.mapped import MappedGraph
from tgraph.kernels import tuned

VERSION, COLUMNS = 2, 5
_LAYOUT = "layout."
_REMEDY = "the file is truncated or damaged: write it again with tgraph.write"


class PartitionedFile(Protocol):
    """An open partitioned file, for `read` and `verify`."""

    def graph(self, *, weights: bool = True) -> Graph:
        """The whole graph in memory, verified; without weights where `weights` is False."""

    def check_all(self) -> None:
        """Verify all checksums. Raises FileFormatError."""


def _with_stream(path: PathLike) -> AbstractContextManager[PartitionedFile]:
    attach("tg.open_partitioned")
    return open_partitioned(path)


# Opens a partitioned file; assigned by `tgraph.stream.file.blocks`, of a higher layer, imported at the first such file.
open_partitioned: Callable[[PathLike], AbstractContextManager[PartitionedFile]] = _with_stream


def read(path: PathLike, *, directed: bool | None = None, weights: bool | None = None, verify: bool = True) -> Graph:
    """Open a .tg file in milliseconds, whatever its size: its tensors are a memory map (copy-on-write).

    Opening verifies the header and reads both ends of `offset`. Each tensor is verified as a whole at first use, in one
    pass (2 to 10 GB a second from the page cache, else the speed of the disk), with FileFormatError, naming tensor and
    position, where a bit differs. `verify=False` skips this. `graph.validate()` checks the entries themselves. Labels,
    and the tensors of a layout, are verified when the file is opened. A partitioned file is read into memory, always
    verified. Files of earlier versions have no checksums.

    `weights=False` drops the weights, and decodes a layout. `directed` overrides the file; for an undirected graph,
    both arcs of every edge are checked to exist.
    Raises FileFormatError for a file that is truncated, damaged, or not written by `tgraph.write`.

    >>> tg.write(tg.generators.rmat(8).to_format("sell"), "web.tg")
    >>> tg.read("web.tg").layout.name
    'sell'
    """
    mapped = _map(path)
    if mapped is None:
        return _in_memory(path, directed, weights is not False)
    tensors, notes, held = mapped
    held = held if verify else None
    if weights is False:
        tensors.pop("weights", None)
    if "tuned" in notes:
        tuned.learn(notes["tuned"])
    try:
        if int(notes.get("version", "0")) not in (0, 1, VERSION, COLUMNS):
            raise FileFormatError(path, f"format version {notes['version']} is newer than {COLUMNS}", "upgrade tgraph")
        graph = _graph(tensors, notes, notes["directed"] == "true" if directed is None else directed, held)
        if int(notes["num_vertices"]) != graph.num_vertices:
            raise ValueError(f"{notes['num_vertices']} vertices declared, {graph.num_vertices} found")
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as fault:
        if held is not None:
            _check_all(tensors, held)  # names the position of damage
        raise FileFormatError(path, f"the tensors do not describe a graph ({fault})", _REMEDY) from fault
    graph = named_data.attached(graph, tensors, partial(_loaded, tensors, held), path)
    if weights is False and graph.weight_dtype is not None:
        arcs = graph.to_csr()
        graph = Graph(arcs.offset, arcs.neighbors, None, graph.vertices, graph.directed).with_columns_of(graph)
    return graph.validate() if directed is False and notes["directed"] == "true" else graph


def verify(path: PathLike) -> int:
    """Read the whole file and compare it with its checksums; returns its size in bytes.

    Raises FileFormatError with the tensor, or block, and the position of a difference; ArgumentError for a file without
    checksums, of earlier versions.
    """
    mapped = _map(path)
    if mapped is None:
        with open_partitioned(path) as file:
            file.check_all()
        return os.path.getsize(path)
    tensors, _, held = mapped
    if held is None:
        raise ArgumentError(
            f"path: {path} is of an earlier version, without checksums; read it, check it with graph.validate(), and "
            "write it again with tgraph.write"
        )
    _check_all(tensors, held)
    return os.path.getsize(path)


def _map(path: PathLike) -> tuple[dict[str, Tensor], dict[str, str], Contents | None] | None:
    """(tensors, metadata, checksums or None) of a file, memory-mapped; None for a partitioned one."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            names = file.keys()
            if notes.get("format") == "tgraph" and "blocks" in names:
                return None
            held = contents(path, _REMEDY)
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, RuntimeError) as fault:
        raise FileFormatError(path, f"not a whole safetensors file ({fault})", _REMEDY) from fault
    if notes.get("format") != "tgraph":
        remedy = "name its tensors to Graph.from_csr, or write it with tgraph.write"
        raise FileFormatError(path, "a safetensors file without a graph", remedy)
    return tensors, notes, None if held.sums is None else held


def _loaded(tensors: dict[str, Tensor], held: Contents | None, name: str) -> Tensor:
    """A tensor, verified."""
    if held is not None:
        _check_all({name: tensors[name]}, held)
    return tensors[name]


def _check_all(tensors: dict[str, Tensor], held: Contents) -> None:
    for name, tensor in tensors.items():
        held.check(name, as_bytes(tensor.view(-1)))


def _in_memory(path: PathLike, directed: bool | None, weights: bool) -> Graph:
    """The graph of a partitioned file."""
    with open_partitioned(path) as file:
        graph = file.graph(weights=weights)
    if directed is None or directed == graph.directed:
        return graph
    other = Graph(graph.offset, graph.neighbors, graph.weights, graph.vertices, directed).with_order(graph.order)
    other = other.with_columns_of(graph)
    return other if directed else other.validate()


def _graph(tensors: dict[str, Tensor], notes: dict[str, str], directed: bool, held: Contents | None) -> Graph:
    if held is not None:
        text = [name for name in tensors if name.startswith((_LAYOUT, "vertex_text"))]
        text += ["order"] if "layout" in notes and "order" in tensors else []
        text += ["vertices"] if "layout" in notes and "vertices" in tensors else []
        _check_all({name: tensors[name] for name in text}, held)
    if "layout" in notes:
        arcs = {name.removeprefix(_LAYOUT): tensors[name] for name in tensors if name.startswith(_LAYOUT)}
        options = json.loads(notes["options"])
        graph = formats.load(notes["layout"], arcs, options, _vertices(tensors), directed, None)
        return graph if "order" not in tensors else graph.with_order(tensors["order"])
    labels = _labels(tensors)
    if held is not None:
        return MappedGraph(tensors, held, labels, directed)
    graph = Graph(tensors["offset"], tensors["neighbors"], tensors.get("weights"), _vertices(tensors), directed)
    return graph if "order" not in tensors else graph.with_order(tensors["order"])


def _vertices(tensors: dict[str, Tensor]) -> Any:
    return tensors.get("vertices", _labels(tensors))


def _labels(tensors: dict[str, Tensor]) -> Any:
    if "vertex_text" not in tensors:
        return None
    return labels.unpack(tensors["vertex_text"].numpy(), tensors["vertex_text_offset"].numpy())


def write(graph: Graph, path: PathLike) -> None:
    """Write the tensors with checksums, atomically: a crash leaves the previous file.

    Raises ArgumentError for labels that are not text; OSError, with the bytes needed, where the disk is full.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["ann", "bob", "eve"])
    >>> tg.write(graph, "people.tg")
    >>> tg.read("people.tg").vertices.tolist()
    ['ann', 'bob', 'eve']
    """
    tensors, notes = _arcs(graph)
    tensors |= labels.tensors_of(graph.order, graph.vertices)
    notes |= {"format": "tgraph", "version": str(VERSION if graph.layout is not None else 1)}
    columns = named_data.tensors_of(graph)
    if columns:
        tensors, notes = tensors | columns, notes | {"version": str(COLUMNS)}
    notes |= {"directed": str(graph.directed).lower(), "num_vertices": str(graph.num_vertices)}
    if measured := tuned.text_of(graph):
        notes["tuned"] = measured
    checksummed.write(path, tensors, notes)


def _arcs(graph: Graph) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of the arcs, and their metadata."""
    if (layout := graph.layout) is not None:
        held = {_LAYOUT + name: tensor for name, tensor in layout.tensors().items()}
        return held, {"layout": layout.name, "options": json.dumps(layout.options())}
    tensors = {"offset": graph.offset, "neighbors": graph.neighbors}
    if graph.weights is not None:
        tensors["weights"] = graph.weights
    return tensors, {}
