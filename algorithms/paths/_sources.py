"""Where a search starts: one vertex, or several searched from at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

import tgraph as tg

_ONE = torch.ones((), dtype=torch.int32, device="cpu")  # torch makes a tensor of a number at each use

Source = int | Tensor | np.ndarray | Sequence[int]


def is_one(source: Source) -> bool:
    """True for a single vertex, whose result is [n] and not [n, 1]."""
    return not isinstance(source, Sequence) and not (isinstance(source, (Tensor, np.ndarray)) and source.ndim > 0)


def minus_one_where(values: Tensor, unreached: int) -> Tensor:
    """The integer values [n, ...], none of them negative, with -1 in place of `unreached`, the largest of the dtype.

    In place: one more makes the largest value the smallest. A mask and a fill take twenty times as long.
    """
    assert unreached == torch.iinfo(values.dtype).max
    if values.numel() >= tg.primitives.values.LARGE and type(values) is Tensor:
        return tg.primitives.values.replace(values, unreached, -1)
    return values.add_(_ONE).clamp_(min=0).sub_(_ONE)


def refuse_ranks(graph: tg.Graph) -> None:
    """Raise ArgumentError for a graph that is spread over ranks, before searches whose results are rows [k, n]."""
    if graph.storage.is_distributed:
        graph.storage.to_csr()


def start_at(graph: tg.Graph, source: Source, unreached: float, dtype: torch.dtype) -> tuple[Tensor, tg.Frontier]:
    """Vertex data that is 0 at the source and `unreached` elsewhere, [n] or [n, k], and the sources as frontier.

    Raises ArgumentError for a source that is no vertex.
    """
    if is_one(source):
        start = graph.select(source, "source")
        values = tg.primitives.values.full(graph, unreached, dtype)
        values[start.ids] = 0
        return values, start
    sources = graph.as_vertices(source, "source")
    values = torch.full((graph.num_vertices, len(sources)), unreached, dtype=dtype, device=graph.device)
    values[sources, torch.arange(len(sources), device=graph.device)] = 0
    return values, graph.select(sources)
