"""Rounds of a relaxation one by one, each from a frontier that is given: see the portable twin."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.direction import THRESHOLDS
from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_call
from tgraph.kernels.native.relaxation import relaxation
from tgraph.kernels.operators.relaxation import rounds as declared
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction

refuses = relaxation.refuses


@implements(declared.Rounds, refuses_call(refuses))
class Rounds:
    """As the portable `Rounds`, whose arguments these are."""

    def __init__(
        self,
        graph: Graph,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
        best_weight: float | None,
    ):
        graph.ensure_valid()
        rows = [(graph.offset, graph.neighbors)]
        per_arc, one = relaxation.split(weights)
        self._held = graph, values, per_arc  # whose memory the kernel reads
        self._relaxation = compiled().Relaxation(
            rows,
            per_arc,
            one,
            best_weight,
            values,
            math.prod(values.shape[1:]) if values.shape[0] else 1,
            -1,
            reduction.name == "min",
            list(EDGE_OPERATIONS).index(edge),
            relaxation.MODES.index("push"),
            THRESHOLDS,
            torch.empty(0, dtype=torch.int64, device="cpu"),
            0,
        )
        self._relaxation.set_transpose(rows, per_arc)

    def step(self, active: Tensor | None, pull: bool) -> Tensor:
        """See the portable twin."""
        self._relaxation.restart(active, relaxation.MODES.index("pull" if pull else "push"))
        self._relaxation.advance(1, math.inf)
        improved = torch.empty(self._relaxation.active, dtype=torch.int64, device="cpu")
        self._relaxation.list(improved)
        return improved
