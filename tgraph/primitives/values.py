"""Values of all vertices, filled and changed by all threads of the compiled kernels: torch has one thread while a
relaxation runs, and with many processors would take longer than the search. Values that are distributed over processes
are torch's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system.library import is_plain
from tgraph.kernels.operators import values as operators

LARGE = 1 << 17  # entries; fewer are done in torch before a kernel is chosen


def full(graph: Graph, value: float, dtype: torch.dtype) -> Tensor:
    """`value` for each vertex, [n] of `dtype`.

    >>> tg.primitives.values.full(tg.generators.path(3), 0.5, torch.float64)
    tensor([0.5000, 0.5000, 0.5000], dtype=torch.float64)
    """
    if graph.storage.is_distributed:
        return graph.out_degree.new_full((graph.num_vertices,), value, dtype=dtype)
    if _is_small(graph.num_vertices, graph.device):
        return torch.full((graph.num_vertices,), value, dtype=dtype, device=graph.device)
    values = torch.empty(graph.num_vertices, dtype=dtype, device=graph.device)
    operators.fill(values, value)
    return values


def numbered(graph: Graph, dtype: torch.dtype) -> Tensor:
    """For each vertex its index, [n], of `dtype` int32 or int64.

    >>> tg.primitives.values.numbered(tg.generators.path(3), torch.int32)
    tensor([0, 1, 2], dtype=torch.int32)
    """
    if _is_small(graph.num_vertices, graph.device) or graph.storage.is_distributed:
        return torch.arange(graph.num_vertices, dtype=dtype, device=graph.device)
    values = torch.empty(graph.num_vertices, dtype=dtype, device=graph.device)
    operators.number(values)
    return values


def whole(values: Tensor) -> Tensor:
    """The `values` [n, ...] in one tensor, on every rank where they are spread over ranks: for few numbers a vertex.

    >>> tg.primitives.values.whole(torch.tensor([1, 2]))
    tensor([1, 2])
    """
    gathered: Callable[[], Tensor] | None = getattr(values, "full_tensor", None)
    return values if gathered is None else gathered()


def replace(values: Tensor, old: int, by: int) -> Tensor:
    """The integer `values` [n, ...] with `by` where they are `old`, in place.

    >>> tg.primitives.values.replace(torch.tensor([3, -1, 5]), -1, 0)
    tensor([3, 0, 5])
    """
    if _is_small(values.numel(), values.device) or not is_plain(values):
        return values.masked_fill_(values == old, by)
    operators.replace(values, old, by)
    return values


def to_int64(values: Tensor) -> Tensor:
    """The int32 or int64 `values` [n, ...] as int64.

    >>> tg.primitives.values.to_int64(torch.tensor([1, 2], dtype=torch.int32))
    tensor([1, 2])
    """
    if values.dtype == torch.int64 or _is_small(values.numel(), values.device) or not is_plain(values):
        return values.to(torch.int64)
    wide = torch.empty(values.shape, dtype=torch.int64, device=values.device)
    operators.convert(values, wide)
    return wide


def _is_small(size: int, device: torch.device) -> bool:
    return size < LARGE or device.type != "cpu"
