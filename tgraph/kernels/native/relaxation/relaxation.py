"""A relaxation from its first frontier to its fixpoint, in one call of the compiled kernels after another."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tgraph.core.direction import THRESHOLDS
from tgraph.kernels.call import Call
from tgraph.kernels.loops import LoopCall, Round, fixpoint
from tgraph.kernels.native.base.support import compiled, implements, refuses_call
from tgraph.kernels.reductions import EDGE_OPERATIONS

DTYPES = (torch.int32, torch.int64, torch.float32, torch.float64)
MODES = ("auto", "push", "pull")
_DONE, _PAUSED, _WANTS_TRANSPOSE = range(3)


def refuses(call: Call) -> str | None:
    """Why the kernels do not run such a relaxation."""
    if call.data.requires_grad:
        return "it overwrites values, whose gradient would be lost"
    if call.data.dtype not in DTYPES:
        return f"it has no relaxation of {call.data.dtype} values"
    if isinstance(call.weights, Tensor) and call.weights.dim() > 0:
        if call.weights.dim() > 1:
            return "it has no relaxation with several weights for an arc"
        if call.weights.dtype not in DTYPES:
            return f"it has no relaxation with {call.weights.dtype} weights"
    if call.graph is not None and call.graph.decoded().neighbors.dtype != torch.int32:
        return "its relaxations need int32 neighbours"
    return None


@implements(fixpoint, refuses_call(refuses))
class Fixpoint:
    """A `Loop` in compiled rounds, or in buckets that all threads empty."""

    def __init__(self, call: LoopCall):
        graph, values, active = call.graph, call.values, call.active
        graph.ensure_valid()
        self._graph, self._transposed = graph, call.transposed
        stored = graph if graph.layout is None else graph.decoded()
        per_arc, one = split(call.weights)
        self._held: list[Any] = [values, per_arc, None if active.is_everything else active.ids]
        self._relaxation = compiled().Relaxation(
            stored.offset,
            stored.neighbors,
            per_arc,
            one,
            call.best_weight,
            call.best_weight is not None,
            values,
            math.prod(values.shape[1:]) if values.shape[0] else 1,
            -1 if call.growth is None else min(int(call.growth), torch.iinfo(torch.int64).max),
            call.reduction.name == "min",
            list(EDGE_OPERATIONS).index(call.edge),
            MODES.index(call.mode),
            THRESHOLDS,
            self._held[2],
            0 if call.delta is None or active.is_everything else call.delta,
        )

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """See `Loop.advance`."""
        state = self._relaxation.advance(limit, seconds)
        if state == _WANTS_TRANSPOSE:
            self._set_transpose()
            state = self._relaxation.advance(limit - self._relaxation.num_rounds, seconds)
        return state == _DONE, self._relaxation.num_rounds

    def rounds(self) -> list[Round]:
        """See `Loop.rounds`."""
        return [Round(*each) for each in self._relaxation.rounds()]

    def _set_transpose(self) -> None:
        reverse = self._graph.transpose().decoded()
        weights = None if self._held[1] is None else split(self._transposed())[0]
        reverse.ensure_valid()
        self._held += [reverse, weights]
        self._relaxation.set_transpose(reverse.offset, reverse.neighbors, weights)

    @property
    def active(self) -> int:
        """The size of the frontier that comes next."""
        return self._relaxation.active


def split(weights: Tensor | float | None) -> tuple[Tensor | None, float]:
    """(weights of the arcs, None) or (None, one weight for all)."""
    if isinstance(weights, Tensor):
        return (weights.detach().contiguous(), 0) if weights.dim() else (None, weights.item())
    return None, 0 if weights is None else weights
