"""Steps along rows that are read block by block; see `tgraph.stream`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import Scratch, Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.operators.components import union_find
from tgraph.kernels.operators.relaxation.relaxation import relax_push
from tgraph.kernels.reductions import Reduction


class Block(Protocol):
    """Consecutive arcs, of the rows `first_row` to `end_row - 1`; see `tgraph.stream.file.block`."""

    @property
    def first_row(self) -> int: ...

    @property
    def end_row(self) -> int: ...

    @property
    def offset(self) -> Tensor: ...

    @property
    def neighbors(self) -> Tensor: ...

    @property
    def weights(self) -> Tensor | None: ...


class Blocks(Protocol):
    """All arcs, block by block."""

    def visit(self, work: Callable[[Any], None]) -> None:
        """Call work(block) once for every block."""


class Workspace(Protocol):
    """The workspace of relaxations inside blocks.

    scratch : of all vertices. marked : bool [n], all False between uses. reached : int64, room for the vertices at the
    arcs of a block.
    """

    scratch: Scratch

    @property
    def marked(self) -> Tensor: ...

    @property
    def reached(self) -> Tensor: ...


def push_block(
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
    `push_block`. limit : (value, number of arcs); rows of worse values can be postponed once that many arcs are
    relaxed. splits : whether the first and the last row continue in other blocks.

    Returns (int64, the improved vertices; at least those with arcs in other blocks, how often values improved, the arcs
    of the rows that stay active, the best value of these).
    """
    improved, changes = torch.zeros(len(values), dtype=torch.bool, device=values.device), 0
    while len(local := active.nonzero().flatten()):
        active.fill_(False)
        better = push_block(graph, block, local, values, values, reduction, edge, weights, workspace.scratch)
        improved[better] = True
        changes += len(better)
        active[better[(better >= block.first_row) & (better < block.end_row)] - block.first_row] = True
    return improved.nonzero().flatten(), changes, 0, 0.0


@operator
def join_blocks(blocks: Blocks, graph: Any, label: Tensor) -> bool:
    """Merge the trees at the two ends of every arc; see `tgraph.primitives.union_find.join`. False, with nothing done,
    where the labels are no forest."""
    vertex = torch.arange(len(label), device=label.device)
    if bool(((label < 0) | (label > vertex)).any()):
        return False

    def join(block: Block) -> None:
        rows = vertex[block.first_row : block.end_row]
        arcs = Selection(block.offset, block.neighbors)
        union_find.join(Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False), label)

    blocks.visit(join)
    return True
