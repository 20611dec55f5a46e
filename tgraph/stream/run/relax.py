"""Rounds of a relaxation along rows that are read block by block."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.rows import Scratch, Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.portable.relaxation import relax_push
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

    `values` are written, `sent` [n, ...] are what the rows send (they may be the same tensor). `weights` is a number
    for every arc, or None for the block's own.
    """
    rows = Selection(block.offset, block.neighbors, local)
    sub = Subgraph(graph, graph.nothing(), "push", local + block.first_row, rows, mirrored=False, scratch=scratch)
    if edge != "copy" and weights is None and block.weights is not None:
        weights = block.weights.index_select(0, rows.positions)  # type: ignore[arg-type]
    return relax_push(sub, values, sent, reduction, edge, weights)


def relax_rows(
    section: Section, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Frontier:
    """One round along the rows of the active vertices of `sub`, with the values of before the round. Only the blocks
    that hold these rows are read."""
    rows = sub.active.ids if sub.rows is None else sub.rows
    rows = rows.to(torch.int64).sort().values
    before, changed = values.clone(), torch.zeros(len(values), dtype=torch.bool, device=values.device)

    def relax(block: Block) -> None:
        low, high = torch.searchsorted(rows, rows.new_tensor([block.first_row, block.end_row])).tolist()
        local = rows[low:high] - block.first_row
        changed[push(sub.graph, block, local, values, before, reduction, edge, weights, sub.scratch)] = True

    section.visit_rows(rows, relax)
    return Frontier(sub.graph, mask=changed)
