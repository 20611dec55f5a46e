"""Random shortest paths by the kernel in `sample_paths.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def paths_inside(graph: Graph, key: int, first: int, count: int) -> Tensor:
    """See `tgraph.primitives.sample_paths.inside`."""
    inside = torch.zeros(graph.num_vertices, dtype=torch.int64, device="cpu")
    arcs = [part.contiguous() for side in (graph, graph.transpose()) for part in (side.offset, side.neighbors)]
    cast(ModuleType, native.load()).sample_paths(*arcs, key, first, count, inside)
    return inside
