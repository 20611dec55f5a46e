"""Columns of arcs and vertices as tensors of a .tg file: "arc_column.NAME" and "vertex_column.NAME".

Numbers are a tensor of the shape of the column. An array of Arrow is a stream of its IPC format with this one column,
uint8, and its tensor has the prefix "arc_column_arrow." or "vertex_column_arrow.".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tgraph.core.columns import Column, Columns
from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike

_ARCS, _VERTICES, _ARROW = "arc_column", "vertex_column", "_arrow"
_REMEDY = "write the file again with tgraph.write"


def tensors_of(graph: Graph) -> dict[str, Tensor]:
    """The columns of a graph."""
    found = {}
    for prefix, columns in ((_ARCS, graph.arc_columns), (_VERTICES, graph.vertex_columns)):
        for name, column in columns.items():
            is_tensor = isinstance(column, Tensor)
            found[f"{prefix}{'' if is_tensor else _ARROW}.{name}"] = column.detach() if is_tensor else _packed(column)
    return found


def attached(graph: Graph, names: Iterable[str], load: Callable[[str], Tensor], path: PathLike) -> Graph:
    """The graph, just read, with the columns among the `names` of the tensors of a file, each of which is loaded,
    verified and unpacked when it is first used."""
    held: dict[str, dict[str, Any]] = {_ARCS: {}, _VERTICES: {}}
    for key in names:
        prefix, _, name = key.partition(".")
        kind = prefix.removesuffix(_ARROW)
        if kind in held and name:
            count = graph.num_arcs if kind == _ARCS else graph.num_vertices
            held[kind][name] = partial(_column, key, load, count, graph.device, path)
    if any(held.values()):
        graph.__dict__.update(_arc_columns=Columns(held[_ARCS]), _vertex_columns=Columns(held[_VERTICES]))
    return graph


def _column(key: str, load: Callable[[str], Tensor], count: int, device: torch.device, path: PathLike) -> Column:
    tensor = load(key)
    column = _unpacked(tensor, key, path) if key.partition(".")[0].endswith(_ARROW) else tensor.to(device)
    if (isinstance(column, Tensor) and not column.dim()) or len(column) != count:
        raise FileFormatError(path, f"the tensor {key!r} does not have {count} rows", _REMEDY)
    return column


def _packed(column: Any) -> Tensor:
    import pyarrow as pa

    batch, sink = pa.record_batch({"": column}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return torch.frombuffer(bytearray(sink.getvalue()), dtype=torch.uint8)


def _unpacked(tensor: Tensor, key: str, path: PathLike) -> Column:
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(pa.py_buffer(tensor.numpy())) as stream:
            column = stream.read_next_batch().column(0)
        column.validate(full=True)
    except (pa.ArrowException, OSError, StopIteration, IndexError) as fault:
        raise FileFormatError(path, f"the tensor {key!r} is no column of Arrow ({fault})", _REMEDY) from fault
    return column
