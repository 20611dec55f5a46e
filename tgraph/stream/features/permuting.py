"""Features of a graph that was renumbered: in its numbering, and back."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import validate
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.stream.features.column_slabs import even_width, pieces, read_columns, stretches
from tgraph.stream.features.matrix import FeatureFile, Source, created, opened_matrix
from tgraph.stream.memory import parse_memory
from tgraph.stream.run.budget import budget_for, runtime_bytes


def permute(
    source: Source, order: Tensor, path: PathLike, *, memory: str | int = "500MB", inverse: bool = False
) -> FeatureFile:
    """Write the rows of features in another order to a file, by columns, and open it.

    source : the features [n, F] of floating numbers, as `aggregate` takes them.
    order : int64 [n], every row once; row i of the result is row order[i] of the source. With `graph.order` features
        of the graph that was partitioned become those of the streamed one.
    path : the file that is written, .npy or .safetensors.
    memory : what may be used beside the order, such as "500MB", or bytes as an int: some columns of all rows.
    inverse : True makes row order[i] of the result from row i of the source: results go back to the numbering of
        before, as `Graph.restore` does.

    Raises ArgumentError for an order that does not have every row once, MemoryBudgetError where not one column fits;
    and what `aggregate` raises for the files.
    """
    budget, features = parse_memory(memory), opened_matrix(source)
    n, total = features.shape
    order = _checked(order, n)
    column = max(1, n * features.dtype.itemsize)
    wanted, least = pieces(features, budget)
    room = budget - runtime_bytes(budget)
    piece = wanted if 2 * wanted + column <= room else least
    if (needed := 2 * piece + column) > room:
        raise MemoryBudgetError("one column of the features", budget_for(needed), budget, "give more")
    width = even_width(total, (room - 2 * piece) // column)
    with created(path, (n, total), features.dtype, piece=piece) as writer:
        buffer = torch.empty(n * width, dtype=features.dtype, device="cpu")
        step = max(1, piece // (width * features.dtype.itemsize))
        for columns in stretches(total, width):
            data = buffer[: n * (columns.stop - columns.start)].view(n, columns.stop - columns.start)
            if inverse:
                for rows in stretches(n, step):
                    data.index_copy_(0, order[rows], features.read(rows, columns).contiguous())
                writer.write(data, 0, columns.start)
                continue
            read_columns(features, columns, data, piece)
            for rows in stretches(n, step):
                writer.write(data.index_select(0, order[rows]), rows.start, columns.start)
    return FeatureFile(path)


def _checked(order: Tensor, n: int) -> Tensor:
    if order.dtype != torch.int64 or tuple(order.shape) != (n,):
        got = f"{order.dtype} {list(order.shape)}"
        raise ArgumentError(f"order: expected int64 [{n}], a number for each row of the source, got {got}")
    order = order.to("cpu")
    validate.check_range(order, n, "order")
    named = torch.zeros(n, dtype=torch.bool, device="cpu").index_fill_(0, order, True)
    if not bool(named.all()):
        raise ArgumentError(f"order: does not name row {int(named.int().argmin())}; give every row once")
    return order
