"""Rounds of a relaxation along rows that are read block by block."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.derived import computed_once
from tgraph.core.frontier import Frontier
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.operators.relaxation.blocks import push_block
from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.block import Block
from tgraph.stream.run.section import Section


class Workspace:
    """The workspace of relaxations inside blocks of a section; made at first use.

    scratch : of all vertices. marked : bool [n], all False between uses. reached : int64, room for the vertices at the
    arcs of a block.
    """

    def __init__(self, section: Section, num_vertices: int):
        self.scratch: Scratch = Scratch(num_vertices)
        self._section, self._n = section, num_vertices

    @computed_once
    def marked(self) -> Tensor:
        return torch.zeros(self._n, dtype=torch.bool, device="cpu")

    @computed_once
    def reached(self) -> Tensor:
        extents = (self._section.index[block] for block in self._section.blocks)
        longest = max((extent.end_arc - extent.first_arc for extent in extents), default=0)
        return torch.empty(min(self._n, longest), dtype=torch.int64, device="cpu")


def relax_rows(
    section: Section, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Frontier:
    """One round along the rows of the active vertices of `sub`, with the values before the round. Only the blocks of
    these rows are read."""
    rows = sub.active.ids if sub.rows is None else sub.rows
    rows = rows.to(torch.int64).sort().values
    before, changed = values.clone(), torch.zeros(len(values), dtype=torch.bool, device=values.device)

    def relax(block: Block) -> None:
        low, high = torch.searchsorted(rows, rows.new_tensor([block.first_row, block.end_row])).tolist()
        local = rows[low:high] - block.first_row
        changed[push_block(sub.graph, block, local, values, before, reduction, edge, weights, sub.scratch)] = True

    section.visit_rows(rows, relax)
    return Frontier(sub.graph, mask=changed)
