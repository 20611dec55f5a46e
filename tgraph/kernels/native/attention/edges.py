"""Operations on edges by the kernels in `edges.hpp` and `edge_softmax.hpp`: one pass over the arcs, which writes the
result in the order of the edges and holds nothing else of their size."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.pages import fresh, settle
from tgraph.kernels.portable.edges import Sides

DTYPES = (torch.float32, torch.float64)


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable twin, None where it is not."""
    if call.data.dtype not in DTYPES:
        return f"it computes float32 and float64, the data is {call.data.dtype}"
    if 0 in call.data.shape[1:]:
        return "the data has no columns"
    return not_plain(call)


def apply_at_ends(source: Tensor, target: Tensor, sides: Sides, operation: str, heads: int) -> Tensor:
    """As the portable twin."""
    arcs, columns = len(sides.neighbors), source.shape[1]
    out = fresh((arcs, heads if operation == "dot" else columns), source.dtype)
    settle(source, arcs)
    _kernels().apply_at_ends(operation, *_rows(sides), flat(source), flat(target), columns, heads, flat(out))
    return out


def sum_edges(weight: Tensor, data: Tensor | None, sides: Sides) -> Tensor:
    """As the portable twin. The same bits for any number of threads."""
    columns = weight.shape[1] if data is None else data.shape[1]
    out = fresh((len(sides.offset) - 1, columns), weight.dtype)
    for read in (weight, data):
        if read is not None:
            settle(read, len(sides.neighbors))
    _kernels().sum_edges(*_rows(sides), flat(weight), flat(data), columns, weight.shape[1], flat(out))
    return out


def edge_softmax(score: Tensor, sides: Sides) -> Tensor:
    """As the portable twin. The same bits for any number of threads."""
    out = fresh(score.shape, score.dtype)
    _kernels().edge_softmax(flat(sides.offset), flat(sides.number), flat(score), score.shape[1], flat(out))
    return out


def edge_softmax_gradient(grad: Tensor, alpha: Tensor, sides: Sides) -> Tensor:
    """As the portable twin. The same bits for any number of threads."""
    out, rows = fresh(alpha.shape, alpha.dtype), (flat(sides.offset), flat(sides.number))
    _kernels().edge_softmax_gradient(*rows, flat(grad), flat(alpha), alpha.shape[1], flat(out))
    return out


def _kernels() -> Any:
    return cast(Any, native.load())


def _rows(sides: Sides) -> tuple[Any, ...]:
    return tuple(map(flat, sides[:3]))
