"""From an edge_index to rows: the edges sorted by target, with self-loops where they are asked for."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import setup_operator
from tgraph.errors import ArgumentError


@setup_operator
def sort_by_target(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, loops: int = 0, replace: bool = False
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arcs source[i] -> target[i] by their target: (offset int64 [num_targets + 1], sources [E'], position int64
    [E']), by (target, source, i). `position` is the i of each. Where the targets ascend already, as in a sampled batch,
    nothing is sorted: arcs stay in their order, self-loops before the first larger source, and without loops the
    position is None.

    source, target : int32 or int64 [E]. loops : so many vertices get a self-loop, numbered behind the edges, and lose
    those that they have where these are to `replace` them: the edges that stay are numbered without them.

    Raises ArgumentError for an end that is no vertex.
    """
    check_ends(source, target, num_sources, num_targets)
    ascend = not bool((target.diff() < 0).any())
    stay = source != target if loops and replace else None
    source, target = (end if stay is None else end[stay] for end in (source, target))
    if ascend:
        return _rows_of_ascending(source, target, max(num_sources, num_targets), num_targets, loops)
    if loops:
        every = torch.arange(loops, dtype=source.dtype, device=source.device)
        source, target = (torch.cat((end, every.to(end.dtype))) for end in (source, target))
    offset, neighbors, position = sorting.sort_edges(target, source, max(num_sources, num_targets), permutation=True)
    return offset[: num_targets + 1], neighbors, position


def with_loops_in_place(offset: Tensor, neighbors: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """The rows `first`, `first` + 1, ... (offset int64 [k + 1], neighbors [e]) with the self-loops of each replaced by
    one, which stands before the first larger neighbour, as in `sort_by_target`."""
    k = len(offset) - 1
    row = sorting.expand_rows(offset, torch.int64)
    source = neighbors.to(torch.int64) - first
    stay = source != row
    size = torch.iinfo(neighbors.dtype).max  # of the dtype, which holds the distances to the first row
    offset, source, _ = _rows_of_ascending(source[stay], row[stay], size, k, k)
    return offset, (source + first).to(neighbors.dtype)


def _rows_of_ascending(
    source: Tensor, target: Tensor, size: int, num_targets: int, loops: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    degree = target.bincount(minlength=num_targets)
    end = degree.cumsum(0)
    neighbors = source.to(sorting.index_dtype(size)).contiguous()
    if not loops:
        return torch.nn.functional.pad(end, (1, 0)), neighbors, None
    place = torch.arange(len(source), device=source.device)  # of each edge
    chosen = ((source > target) & (target < loops)).nonzero().squeeze(1)
    before = end[:loops].scatter_reduce(
        0, target[chosen].long(), chosen, "amin"
    )  # the edge that follows each self-loop
    order = torch.cat((2 * place + 1, 2 * before)).argsort(stable=True)
    degree[:loops] += 1
    every = torch.arange(loops, dtype=neighbors.dtype, device=source.device)
    return torch.nn.functional.pad(degree.cumsum(0), (1, 0)), torch.cat((neighbors, every))[order], order


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
