"""Maximum flows by the kernel in `max_flow.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.call import Call
from tgraph.kernels.native.paths.shortest_paths import rows


def refuses(call: Call) -> str | None:
    """Every graph on the CPU is served."""
    return None


def max_flow(
    graph: Graph, source: int, target: int, flow: Tensor | None, source_side: Tensor | None, weighted: bool
) -> float:
    """See `tgraph.primitives.flow.max_flow`; written into `flow`, which holds zeros, and `source_side`."""
    offset, neighbors, capacity = rows(graph)
    capacity = capacity if weighted else None
    if capacity is None and flow is not None and flow.is_floating_point():
        capacity = torch.ones(graph.num_arcs, dtype=flow.dtype)
    reverse = graph.transpose_detached()
    arcs = (offset, neighbors, capacity, *rows(reverse)[:2], graph.transpose_permutation)
    find = cast(ModuleType, native.load()).max_flow
    return find(*arcs, _is_mirrored(graph, weighted), source, target, flow, source_side)


def _is_mirrored(graph: Graph, weighted: bool) -> bool:
    """Whether transpose_permutation has for every arc another one back, of the same capacity."""
    if graph.directed:
        return False
    return graph.kept("mirrored_weights" if weighted else "mirrored", lambda: _compare(graph, weighted))


def _compare(graph: Graph, weighted: bool) -> bool:
    back, weights = graph.transpose_permutation, graph.weights if weighted else None
    leads_back = torch.equal(graph.neighbors[back], sorting.expand_rows(graph.offset).to(graph.neighbors.dtype))
    is_paired = torch.equal(back[back], torch.arange(graph.num_arcs))
    return leads_back and is_paired and (weights is None or torch.equal(weights[back], weights))
