"""Where a search starts: one vertex, or several searched from at once."""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg

Source = int | Tensor | list[int]


def as_sources(graph: tg.Graph, source: Source) -> Tensor:
    """The sources as indices int64 [k]. Raises ArgumentError for one that is no vertex."""
    one = not isinstance(source, (list, tuple)) and not (isinstance(source, Tensor) and source.dim())
    wanted = [source.item() if isinstance(source, Tensor) else source] if one else source
    graph.select(wanted)
    return torch.as_tensor(wanted, dtype=torch.int64, device=graph.device)


def start_at(graph: tg.Graph, source: Source, unreached: float, dtype: torch.dtype) -> tuple[Tensor, tg.Frontier]:
    """Vertex data that is 0 at the source and `unreached` elsewhere, [n] or [n, k], and the sources as frontier."""
    sources = as_sources(graph, source)
    several = isinstance(source, (list, tuple)) or (isinstance(source, Tensor) and source.dim() > 0)
    shape = (graph.num_vertices, len(sources)) if several else (graph.num_vertices,)
    values = torch.full(shape, unreached, dtype=dtype, device=graph.device)
    values[(sources, torch.arange(len(sources))) if several else sources] = 0
    return values, graph.select(sources)
