"""Where a search starts: one vertex, or several searched from at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tgraph as tg

_ONE = torch.ones((), dtype=torch.int32, device="cpu")  # torch makes a tensor of a number at each use

# Arcs and vertices below which several searches end before a run would begin.
SMALL_ARCS, SMALL_VERTICES = 1 << 18, 1 << 16

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


def are_small(graph: tg.Graph, sources: Tensor, options: dict[str, Any]) -> bool:
    """Whether searches from the sources are best made by one call of a kernel, and `options` of a run allow it."""
    small = graph.num_arcs < SMALL_ARCS and graph.num_vertices < SMALL_VERTICES and graph.device.type == "cpu"
    plain = graph.layout is None and len(sources) > 1 and options.keys() <= {"backend"}
    return small and plain and options.get("backend", "auto") in ("auto", "native")


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
