"""Rounds of a relaxation along rows that are read block by block."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.derived import computed_once
from tgraph.core.dispatch import operator
from tgraph.core.frontier import Frontier
from tgraph.core.rows import Scratch, Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.operators.relaxation.relaxation import relax_push
from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.block import Block
from tgraph.stream.run.section import Section


def push(
    graph: Any,
    block: Block,
    local: Tensor,
    values: Tensor,
    sent: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    scratch: Scratch | None,
) -> Tensor:
    """Relax along some rows of a block, numbered from its first: the vertices that improve, int64, distinct.

    `values` are written, `sent` [n, ...] are read by the rows (they may be the same tensor). `weights` is a number for
    every arc, or None for the block's own.
    """
    rows = Selection(block.offset, block.neighbors, local)
    sub = Subgraph(graph, graph.nothing(), "push", local + block.first_row, rows, mirrored=False, scratch=scratch)
    if edge != "copy" and weights is None and block.weights is not None:
        weights = block.weights.index_select(0, rows.positions)  # type: ignore[arg-type]
    return relax_push(sub, values, sent, reduction, edge, weights)


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


@operator
def relax_block(
    graph: Any,
    block: Block,
    values: Tensor,
    active: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    limit: tuple[float, int],
    splits: tuple[bool, bool],
    workspace: Workspace,
) -> tuple[Tensor, int, int, float]:
    """Relax inside a block until its active rows are none or, where an implementation can, postponable.

    values : [n, ...], overwritten. active : bool [rows], overwritten by the rows that stay active. weights : as in
    `push`. limit : (value, number of arcs); rows of worse values can be postponed once that many arcs are relaxed.
    splits : whether the first and the last row continue in other blocks.

    Returns (int64, the improved vertices; at least those with arcs in other blocks, how often values improved, the arcs
    of the rows that stay active, the best value of these).
    """
    improved, changes = torch.zeros(len(values), dtype=torch.bool, device=values.device), 0
    while len(local := active.nonzero().flatten()):
        active.fill_(False)
        better = push(graph, block, local, values, values, reduction, edge, weights, workspace.scratch)
        improved[better] = True
        changes += len(better)
        active[better[(better >= block.first_row) & (better < block.end_row)] - block.first_row] = True
    return improved.nonzero().flatten(), changes, 0, 0.0


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
        changed[push(sub.graph, block, local, values, before, reduction, edge, weights, sub.scratch)] = True

    section.visit_rows(rows, relax)
    return Frontier(sub.graph, mask=changed)
