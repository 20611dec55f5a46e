"""Rounds of a relaxation one by one, each from a frontier that is given."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Subgraph, rows_of
from tgraph.kernels.messages import across
from tgraph.kernels.operators.relaxation.relaxation import relax
from tgraph.kernels.reductions import Reduction


@chosen_operator
class Rounds:
    """A relaxation along the rows of a `graph`, whose `values` [n, ...] are overwritten; others may improve them
    between rounds.

    weights : of the stored arcs, [m], a number, or None. best_weight : that no other beats, None where the best value
    over it is not the best message.
    """

    def __init__(
        self,
        graph: Graph,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
        best_weight: float | None,
    ):
        self._graph, self._values, self._reduction, self._edge = graph, values, reduction, edge
        self._weights, self._best_weight = weights, best_weight
        self._scratch = Scratch(graph.num_vertices)

    def step(self, active: Tensor | None, pull: bool) -> Tensor:
        """One round: the vertices that improved, int64, distinct.

        active : the vertices that send, distinct int64 [k], or None for all. pull : whether every row gathers from its
        neighbors that are active, instead of the rows of active vertices sending to theirs.
        """
        graph = self._graph
        frontier = graph.everything() if active is None else Frontier(graph, ids=active)
        if pull:
            sub = Subgraph(graph, frontier, "pull", None, graph.selection(), mirrored=False)
        else:
            sub = rows_of(graph, active, frontier)
        sub.scratch = self._scratch
        weights = self._weights
        if isinstance(weights, Tensor) and weights.dim():
            weights = sub.arc_data(weights)
        return relax(sub, self._values, self._reduction, self._edge, weights, lambda: self._bound(frontier)).ids

    def _bound(self, frontier: Frontier) -> Tensor | None:
        """The best message that the active vertices can send."""
        if self._best_weight is None or not len(frontier) or self._values.dim() > 1:
            return None
        sent = self._values if frontier.is_everything else self._values.index_select(0, frontier.ids)
        best = self._reduction.best(sent)
        nothing = self._reduction.identity(best.dtype)
        if bool(best == nothing):
            return best
        return torch.as_tensor(across(best, self._edge, self._best_weight)).to(best.dtype)
