"""The container of TGraph (.tg): a safetensors file that is mapped into memory, not read.

Tensors: offset int64 [n + 1], neighbors int32 or int64 [m], and where the graph has them weights [m], vertices
int64 [n], or vertex_text uint8 and vertex_text_offset int64 [n + 1] for labels, and order int64 [n] of a permuted
graph. The metadata say format, version, directed and num_vertices. A graph in a layout of its own (version 2) has the
tensors of that in place of the first three, named "layout." and their names; the metadata say layout and, as JSON, its
options. The data begin at a page boundary, so any safetensors reader can map them too. A file of version 3 or 4 is
partitioned into blocks, as `tgraph.stream.container` says.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.graph import Graph
from tgraph.io import labels
from tgraph.io.stream import PathLike, replacing

VERSION = 2
_LAYOUT = "layout."
_PAGE = 4096
_DTYPES = {
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
}  # fmt: skip
_REMEDY = "the file is truncated or damaged: write it again with tgraph.write"


def read(path: PathLike, *, directed: bool | None = None, weights: bool | None = None) -> Graph:
    """Open a .tg file in milliseconds, whatever its size: its tensors are a memory map (copied on write).

    Only the header and both ends of `offset` are checked; `graph.validate()` checks every entry. A layout checks its
    own. A partitioned file is read into memory, and its checksums are verified. Labels are decoded at once.
    `weights=False` leaves the weights out, for which a layout is decoded. `directed` overrules the file, at the price
    of checking that an undirected graph holds both arcs of every edge.
    Raises FileFormatError for a file that is truncated, damaged, or not written by `tgraph.write`.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            if notes.get("format") == "tgraph" and "blocks" in file.keys():  # noqa: SIM118
                return _in_memory(path, directed, weights is not False)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, RuntimeError) as fault:
        raise FileFormatError(path, f"not a whole safetensors file ({fault})", _REMEDY) from fault
    if notes.get("format") != "tgraph":
        remedy = "name its tensors to Graph.from_csr, or write it with tgraph.write"
        raise FileFormatError(path, "a safetensors file that holds no graph", remedy)
    if int(notes.get("version", "0")) > VERSION:
        raise FileFormatError(path, f"format version {notes['version']} is newer than {VERSION}", "upgrade tgraph")
    if weights is False:
        tensors.pop("weights", None)
    try:
        graph = _graph(tensors, notes, notes["directed"] == "true" if directed is None else directed)
        if int(notes["num_vertices"]) != graph.num_vertices:
            raise ValueError(f"{notes['num_vertices']} vertices declared, {graph.num_vertices} found")
    except (KeyError, ValueError) as fault:
        raise FileFormatError(path, f"the tensors are no graph ({fault})", _REMEDY) from fault
    if weights is False and graph.weight_dtype is not None:
        graph = Graph(graph.offset, graph.neighbors, None, graph.vertices, graph.directed)
    return graph.validate() if directed is False and notes["directed"] == "true" else graph


def _in_memory(path: PathLike, directed: bool | None, weights: bool) -> Graph:
    """The graph of a partitioned file."""
    from tgraph.stream.blocks import BlockFile

    with BlockFile(path) as file:
        graph = file.graph(weights=weights)
    if directed is None or directed == graph.directed:
        return graph
    other = Graph(graph.offset, graph.neighbors, graph.weights, graph.vertices, directed).with_order(graph.order)
    return other if directed else other.validate()


def _graph(tensors: dict[str, Tensor], notes: dict[str, str], directed: bool) -> Graph:
    if "layout" in notes:
        from tgraph import formats

        held = {name.removeprefix(_LAYOUT): tensors[name] for name in tensors if name.startswith(_LAYOUT)}
        options = json.loads(notes["options"])
        return formats.load(notes["layout"], held, options, _vertices(tensors), directed, tensors.get("order"))
    graph = Graph(tensors["offset"], tensors["neighbors"], tensors.get("weights"), _vertices(tensors), directed)
    if int(graph.offset[0]) != 0:
        raise ValueError(f"offsets begin with {int(graph.offset[0])}")
    return graph if "order" not in tensors else graph.with_order(tensors["order"])


def _vertices(tensors: dict[str, Tensor]) -> Any:
    if "vertex_text" in tensors:
        return labels.unpack(tensors["vertex_text"].numpy(), tensors["vertex_text_offset"].numpy())
    return tensors.get("vertices")


def write(graph: Graph, path: PathLike) -> None:
    """Write the tensors as they are, without copying them. Raises ArgumentError for labels that are not text."""
    tensors, notes = _arcs(graph)
    if graph.order is not None:
        tensors["order"] = graph.order
    if isinstance(graph.vertices, Tensor):
        tensors["vertices"] = graph.vertices
    elif graph.vertices is not None:
        text, offset = map(torch.from_numpy, labels.pack(graph.vertices))
        tensors |= {"vertex_text_offset": offset, "vertex_text": text}
    # widest first, so that every tensor is aligned to its own element size without gaps
    ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
    header: dict[str, Any] = {
        "__metadata__": {
            "format": "tgraph",
            "version": str(VERSION if graph.layout is not None else 1),
            "directed": str(graph.directed).lower(),
            "num_vertices": str(graph.num_vertices),
            **notes,
        }
    }
    end = 0
    for name, tensor in ordered:
        if tensor.dtype not in _DTYPES:
            raise ArgumentError(f"graph.{name}: no .tg file holds {tensor.dtype}; convert it to torch.float32")
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    head = json.dumps(header).encode()
    head += b" " * (-(8 + len(head)) % _PAGE)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for _, tensor in ordered:
            plain = tensor.detach().cpu().contiguous()
            file.write(plain.view(torch.uint8).numpy().data)


def _arcs(graph: Graph) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors that hold the arcs, and what the metadata say of them."""
    if (layout := graph.layout) is not None:
        held = {_LAYOUT + name: tensor for name, tensor in layout.tensors().items()}
        return held, {"layout": layout.name, "options": json.dumps(layout.options())}
    tensors = {"offset": graph.offset, "neighbors": graph.neighbors}
    if graph.weights is not None:
        tensors["weights"] = graph.weights
    return tensors, {}
