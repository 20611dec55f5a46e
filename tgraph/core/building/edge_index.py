"""From an edge_index to rows: the edges sorted by target, with self-loops where they are asked for."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.building import sorting
from tgraph.core.library import is_plain
from tgraph.errors import ArgumentError


def sort_by_target(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, loops: int = 0, replace: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs source[i] -> target[i] by their target: (offset int64 [num_targets + 1], sources [E'], position int64
    [E']), by (target, source, i). `position` is the i of each.

    source, target : int32 or int64 [E]. loops : so many vertices get a self-loop, numbered behind the edges, and lose
    those that they have where these are to `replace` them: the edges that stay are numbered without them.

    Raises ArgumentError for an end that is no vertex.
    """
    plain = is_plain(source, target) and max(num_sources, num_targets) < 2**31 and len(source) + loops < 2**32
    kernels = native.load() if plain else None
    if kernels is None:
        return _sort_by_torch(source, target, (num_sources, num_targets), loops, replace)
    if source.dtype != target.dtype:
        source, target = source.to(torch.int64), target.to(torch.int64)
    size = source.shape[0] + loops
    offset = torch.empty(num_targets + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(size, dtype=torch.int32, device="cpu")
    position = torch.empty(size, dtype=torch.int64, device="cpu")
    ends = (source.contiguous(), target.contiguous())
    replace = replace and loops > 0
    arcs = cast(Any, kernels).sort_by_target(*ends, num_sources, loops, replace, offset, neighbors, position)
    if arcs < 0:
        check_ends(source, target, num_sources, num_targets)
    return (offset, neighbors, position) if arcs == size else (offset, neighbors[:arcs], position[:arcs])


def _sort_by_torch(
    source: Tensor, target: Tensor, sizes: tuple[int, int], loops: int, replace: bool
) -> tuple[Tensor, Tensor, Tensor]:
    check_ends(source, target, *sizes)
    if loops:
        stay = source != target if replace else None
        every = torch.arange(loops, dtype=source.dtype, device=source.device)
        source, target = (
            torch.cat((end if stay is None else end[stay], every.to(end.dtype))) for end in (source, target)
        )
    offset, neighbors, position = sorting.sort_edges(target, source, max(sizes), permutation=True)
    assert position is not None
    return offset[: sizes[1] + 1], neighbors, position


def check_ends(source: Tensor, target: Tensor, num_sources: int, num_targets: int) -> None:
    """Raise ArgumentError for the first end of an edge that is no vertex."""
    for name, ends, size in (("source", source, num_sources), ("target", target, num_targets)):
        wrong = ((ends < 0) | (ends >= size)).nonzero()
        if len(wrong):
            place = int(wrong[0])
            raise ArgumentError(
                f"edge_index: the {name} {int(ends[place])} of edge {place} is not among the {size} vertices 0.."
                f"{size - 1} that x has features of; give more features, or remove the edge"
            )
