"""Rounds of a relaxation along the rows of a side: see `tgraph.kernels.operators.relaxation.rounds`.

Where the order is free, the arcs inside are relaxed until nothing changes before anything is exchanged, each block with
the best values first: an exchange costs a pass over blocks, which rounds that follow the hops would make for each hop.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.distributed.streaming.side import Side
from tgraph.kernels.loops import LoopCall
from tgraph.kernels.operators.relaxation.blocks import relax_block
from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.block import Block
from tgraph.stream.run.fixpoint import ENDLESS, Fixpoint
from tgraph.stream.run.relax import Workspace, relax_rows


class _Rounds:
    """graph : of `side`. values : [num_vertices, ...], overwritten; others may improve them between rounds. weights : a
    number, or None for the weights of the arcs."""

    def __init__(
        self,
        graph: Graph,
        side: Side,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
    ):
        self._graph, self._side, self._values = graph, side, values
        self._how = reduction, edge, weights
        self._workspace = Workspace(side.section, graph.num_vertices)

    def _rows(self, active: Tensor | None) -> Tensor:
        """The active own vertices, int64 [j] ascending."""
        if active is None:
            return torch.arange(len(self._side.section.offset) - 1, device=self._values.device)
        return active.sort().values


class Single(_Rounds):
    """Rounds that send the values before them."""

    def step(self, active: Tensor | None, pull: bool) -> Tensor:
        """One round along the rows of the active own vertices, int64 [j], None for all: the vertices that improve,
        int64, distinct. There is no pull: `pull` is False."""
        rows, graph = self._rows(active), self._graph
        sub = Subgraph(graph, Frontier(graph, ids=rows), "push", rows, graph.selection(rows), mirrored=False)
        sub.scratch = self._workspace.scratch
        return relax_rows(self._side.section, sub, self._values, *self._how).ids


class Across(_Rounds):
    """Rounds along arcs to mirrors, which have no rows: by one visit to each block."""

    def step(self, active: Tensor | None, pull: bool) -> Tensor:
        rows, section = self._rows(active), self._side.section
        improved = torch.zeros(len(self._values), dtype=torch.bool, device=rows.device)

        def relax(block: Block) -> None:
            low, high = torch.searchsorted(rows, rows.new_tensor([block.first_row, block.end_row])).tolist()
            sends = torch.zeros(block.end_row - block.first_row, dtype=torch.bool, device=rows.device)
            sends[rows[low:high] - block.first_row] = True
            reached, *_ = relax_block(
                self._graph,
                block,
                self._values,
                sends,
                *self._how,
                (0, ENDLESS),
                section.splits[block.number],
                self._workspace,
            )
            improved[reached] = True

        section.visit_rows(rows, relax)
        return improved.nonzero().flatten()


class Settling(_Rounds):
    """Along arcs to own vertices, until none of these improves."""

    _sent: Tensor | None = None  # the values that own vertices have sent last, [k, ...]

    def step(self, active: Tensor | None, pull: bool) -> Tensor:
        """Relax from the active own vertices, int64 [j], None for all; returns the vertices that improve. Vertices that
        have not improved since they were last relaxed here send nothing."""
        if self._sent is None:
            rows, self._sent = self._rows(active), self._values.clone()
        else:
            rows = self._rows(active)
            rows = rows[self._better(self._values.index_select(0, rows), self._sent.index_select(0, rows))]
            self._sent.index_copy_(0, rows, self._values.index_select(0, rows))
        if len(rows):
            call = LoopCall(self._graph, self._values, Frontier(self._graph, ids=rows), *self._how)
            loop = Fixpoint(self._side.section, call)
            while not loop.advance(ENDLESS, 0)[0]:
                pass
        improved = self._better(self._values, self._sent).nonzero().flatten()
        self._sent.copy_(self._values)
        return improved

    def _better(self, values: Tensor, before: Tensor) -> Tensor:
        better = self._how[0].better(values, before)
        return better if better.dim() == 1 else better.flatten(1).any(1)


def rounds(
    graph: Graph,
    side: Side,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    any_order: bool,
    inside: bool,
) -> Any:
    """Rounds of a relaxation on a side. any_order : whether their order is free. inside : whether arcs lead to own
    vertices."""
    kind = (Settling if inside else Across) if any_order else Single
    return kind(graph, side, values, reduction, edge, weights)
