"""Searches from many sources at once, by the kernel in `multi_source.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def count_levels(graph: Graph, sources: Tensor) -> Tensor:
    """See `tgraph.primitives.multi_source.level_counts`."""
    found = cast(ModuleType, native.load()).count_levels(*_arcs(graph), sources.contiguous())
    counts = torch.zeros((len(sources), found.num_levels), dtype=torch.int64, device="cpu")
    found.copy_to(counts.view(-1))
    return counts


def count_hops(graph: Graph, sources: Tensor) -> Tensor:
    """See `tgraph.primitives.multi_source.hops`."""
    distance = torch.empty((len(sources), graph.num_vertices), dtype=torch.int32, device="cpu")
    cast(ModuleType, native.load()).count_hops(*_arcs(graph), sources.contiguous(), distance.view(-1))
    return distance


def _arcs(graph: Graph) -> list[Tensor]:
    return [part.contiguous() for side in (graph, graph.transpose_detached()) for part in (side.offset, side.neighbors)]
