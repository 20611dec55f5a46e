"""Sorting an edge_index by target in one call: see `tgraph.core.building.edge_index`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import edge_index as declared
from tgraph.core.building.edge_index import check_ends
from tgraph.kernels.native.base.support import compiled, implements, refuses_tensors


def refuses_ends(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, loops: int = 0, replace: bool = False
) -> str | None:
    """Why a call is not supported, None if it is."""
    if max(num_sources, num_targets) >= 2**31 or source.shape[0] + loops >= 2**32:
        return "it numbers vertices in int32 and edges in 32 bits"
    return refuses_tensors(source, target)


@implements(declared.sort_by_target, refuses_ends)
def sort_by_target(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, loops: int = 0, replace: bool = False
) -> tuple[Tensor, Tensor, Tensor | None]:
    source, target = source.to(torch.int64), target.to(torch.int64)
    size = source.shape[0] + loops
    offset = torch.empty(num_targets + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(size, dtype=torch.int32, device="cpu")
    position = torch.empty(size, dtype=torch.int64, device="cpu")
    replace = replace and loops > 0
    arcs, in_order = compiled().sort_by_target(source, target, num_sources, loops, replace, offset, neighbors, position)
    if arcs < 0:
        check_ends(source, target, num_sources, num_targets)
    if in_order:
        return offset, neighbors, None
    return (offset, neighbors, position) if arcs == size else (offset, neighbors[:arcs], position[:arcs])
