"""Rows whose entries are vertices and virtual rows, written out as neighbours again."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_stretches


@operator
def unfold_rows(
    offset: Tensor, entries: Tensor, num_vertices: int, num_virtual: int, num_arcs: int
) -> tuple[Tensor, Tensor] | None:
    """The arcs that the rows behind the virtual ones stand for: (offset int64 [rows + 1], neighbors [arcs] of the dtype
    of the entries), in the order of the entries. None where that is another number of arcs.

    offset : int64 [R + rows + 1], where the entries of each row begin, the R virtual rows first. entries : int32 or
    int64 [A], a vertex below n, or n + i for the i-th virtual row; a virtual row has earlier ones only. Costs the arcs
    once for each depth to which virtual rows nest.
    """
    first = int(offset[num_virtual])
    begin, found = offset[num_virtual:] - first, entries[first:]
    while len(found) <= num_arcs and bool((inner := found >= num_vertices).any()):
        here = torch.arange(len(entries), len(entries) + len(found), device=found.device)
        row = torch.where(inner, found - num_vertices, 0).long()
        width = torch.where(inner, offset[row + 1] - offset[row], 1)
        selected, place = gather_stretches(torch.where(inner, offset[row], here), width)
        begin, found = selected[begin], torch.cat((entries, found))[place]
    return (begin, found.clone()) if len(found) == num_arcs else None
