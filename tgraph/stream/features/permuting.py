"""Permutation of features to the numbering of a renumbered graph, and back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import validate
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.stream.features.column_slabs import even_width, pieces, read_columns, slices
from tgraph.stream.features.matrix import FeatureFile, Source, create_features, open_matrix
from tgraph.stream.memory import parse_memory
from tgraph.stream.run.budget import budget_for, runtime_bytes


def permute(
    source: Source, order: Tensor, path: PathLike, *, memory: str | int = "500MB", inverse: bool = False
) -> FeatureFile:
    """Write the rows of features in another order to a column-major file, and open it.

    source : floating-point features [n, F], as for `aggregate`.
    order : int64 [n], a permutation; row i of the result is row order[i] of the source. `graph.order` turns features of
        the original graph into those of the partitioned one.
    path : the file that is written, .npy or .safetensors.
    memory : the memory budget beside the order, such as "500MB", or bytes as an int: for some columns of all rows.
    inverse : True writes row i of the source to row order[i] of the result: back to the original numbering, as
        `Graph.restore` does.

    Raises ArgumentError for an order that is no permutation, MemoryBudgetError where not one column fits; and the
    errors of `aggregate` for the files.

    >>> x = torch.tensor([[0.0], [1.0], [2.0]])
    >>> tg.stream.permute(x, torch.tensor([2, 0, 1]), "moved.npy").read(slice(0, 3))
    tensor([[2.],
            [0.],
            [1.]])
    """
    budget, features = parse_memory(memory), open_matrix(source)
    n, total = features.shape
    order = _checked(order, n)
    column = max(1, n * features.dtype.itemsize)
    wanted, least = pieces(features, budget)
    available = budget - runtime_bytes(budget)
    piece = wanted if 2 * wanted + column <= available else least
    if (needed := 2 * piece + column) > available:
        raise MemoryBudgetError("one column of the features", budget_for(needed), budget, "give more")
    width = even_width(total, (available - 2 * piece) // column)
    with create_features(path, (n, total), features.dtype, piece=piece) as writer:
        buffer = torch.empty(n * width, dtype=features.dtype, device="cpu")
        step = max(1, piece // (width * features.dtype.itemsize))
        for columns in slices(total, width):
            data = buffer[: n * (columns.stop - columns.start)].view(n, columns.stop - columns.start)
            if inverse:
                for rows in slices(n, step):
                    data.index_copy_(0, order[rows], features.read(rows, columns).contiguous())
                writer.write(data, 0, columns.start)
                continue
            read_columns(features, columns, data, piece)
            for rows in slices(n, step):
                writer.write(data.index_select(0, order[rows]), rows.start, columns.start)
    return FeatureFile(path)


def _checked(order: Any, n: int) -> Tensor:
    if not isinstance(order, Tensor) or order.dtype != torch.int64 or tuple(order.shape) != (n,):
        got = f"{order.dtype} {list(order.shape)}" if isinstance(order, Tensor) else type(order).__name__
        raise ArgumentError(f"order: expected int64 [{n}], a number for each row of the source, got {got}")
    order = order.to("cpu")
    validate.check_range(order, n, "order")
    occurs = torch.zeros(n, dtype=torch.bool, device="cpu").index_fill_(0, order, True)
    if not bool(occurs.all()):
        raise ArgumentError(f"order: does not name row {int(occurs.int().argmin())}; give every row once")
    return order
