"""Arcs by random words of their sources, in torch operators: what vertices of a batch draw from is then the same, and
they have many neighbours in common (Balin and Catalyurek, "Layer-neighbor sampling: defusing neighborhood explosion in
GNNs", NeurIPS 2023)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows


@operator
def least_arcs(offset: Tensor, neighbors: Tensor, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor]:
    """The arcs of each of the `rows` [k] whose sources have the smallest words of the stream `key`, at most `count`,
    ascending: (how many, int64 [k]; numbers of the arcs, int64). Of parallel arcs the first ones come first."""
    bounds, arc = gather_rows(offset, rows)
    degree = bounds.diff()
    row = torch.arange(len(rows), device=rows.device).repeat_interleave(degree)
    order = random.uniform(key, neighbors[arc].long()).argsort(stable=True)
    order = order[row[order].argsort(stable=True)]
    rank = torch.arange(len(arc), device=rows.device) - bounds[:-1][row]
    return degree.clamp(max=count), arc[order[rank < count].sort().values]
