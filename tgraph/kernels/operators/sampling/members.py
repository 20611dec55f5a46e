"""The arcs that come from some vertices, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows


@operator
def arcs_from(offset: Tensor, neighbors: Tensor, rows: Tensor, sources: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs of the `rows` [k] whose neighbors are among the `sources` [s], ascending and different: (how many of
    each row, int64 [k]; their numbers, int64 [e]; the places of their sources, int64 [e])."""
    bounds, arc = gather_rows(offset, rows)
    row = torch.arange(len(rows), device=rows.device).repeat_interleave(bounds.diff())
    if not len(sources):
        return torch.zeros_like(rows), arc[:0], arc[:0]
    neighbor = neighbors[arc].long()
    place = torch.searchsorted(sources, neighbor).clamp(max=len(sources) - 1)
    inside = sources[place] == neighbor
    return torch.bincount(row[inside], minlength=len(rows)), arc[inside], place[inside]
