"""Rounds of a relaxation along rows that are read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.rows import Scratch, Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.portable.relaxation import relax_push
from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.blocks import Block

if TYPE_CHECKING:
    from tgraph.stream.run.streamed import Streamed


def block_pairs(layout: Streamed, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """The blocks that hold arcs of the given vertices [k], int64: (vertex, block) for each of them, by its place among
    `layout.blocks`. A vertex without arcs has none, that of a split row several."""
    first = layout.row_offset().index_select(0, vertices)
    last = layout.row_offset().index_select(0, vertices + 1) - 1
    low = torch.searchsorted(layout.bounds, first, right=True) - 1
    if not layout.is_split:
        held = last >= first
        return (vertices, low) if bool(held.all()) else (vertices[held], low[held])
    count = torch.where(last >= first, torch.searchsorted(layout.bounds, last, right=True) - low, 0)
    total = int(count.sum())
    start = torch.repeat_interleave(low - count.cumsum(0) + count, count, output_size=total)
    place = start + torch.arange(total, device=vertices.device)
    return vertices.repeat_interleave(count, output_size=total), place


def blocks_of(layout: Streamed, vertices: Tensor) -> list[int]:
    """The blocks that hold arcs of some vertices, in order."""
    wanted = torch.zeros(len(layout.blocks), dtype=torch.bool, device=vertices.device)
    wanted[block_pairs(layout, vertices)[1]] = True
    return [layout.blocks[place] for place in wanted.nonzero().flatten().tolist()]


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

    `values` are written, `sent` [n, ...] are what the rows send (they may be the same). `weights` is a number for every
    arc, or None for the block's own.
    """
    held = Selection(block.offset, block.neighbors, local)
    sub = Subgraph(graph, graph.nothing(), "push", local + block.first_row, held, mirrored=False, scratch=scratch)
    if edge != "copy" and weights is None and block.weights is not None:
        weights = block.weights.index_select(0, held.positions)  # type: ignore[arg-type]
    return relax_push(sub, values, sent, reduction, edge, weights)


def relax_rows(
    layout: Streamed, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Frontier:
    """A round along the rows of the vertices that send, in `sub`: none but the blocks that hold them are read."""
    rows = sub.active.ids if sub.rows is None else sub.rows
    rows = rows.to(torch.int64).sort().values
    before, changed = values.clone(), torch.zeros(len(values), dtype=torch.bool, device=values.device)

    def relax(block: Block) -> None:
        low, high = torch.searchsorted(rows, rows.new_tensor([block.first_row, block.end_row])).tolist()
        local = rows[low:high] - block.first_row
        changed[push(sub.graph, block, local, values, before, reduction, edge, weights, sub.scratch)] = True

    layout.pipeline.visit_all(blocks_of(layout, rows), relax)
    return Frontier(sub.graph, mask=changed)
