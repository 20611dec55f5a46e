"""Arcs that longer paths replace, by the kernel in `transitive.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def replaced_arcs(graph: Graph, generation: Tensor) -> Tensor:
    """See `tgraph.primitives.topological.replaced_arcs`."""
    reverse = graph.transpose_detached()
    replaced = torch.zeros(graph.num_arcs, dtype=torch.bool, device="cpu")
    stored = reverse.offset.contiguous(), reverse.neighbors.contiguous()
    cast(Any, native.load()).replaced_arcs(*stored, generation.argsort(stable=True), replaced)
    return replaced
