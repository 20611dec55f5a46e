"""A relaxation from its first frontier to its fixpoint, in one call of the compiled kernels after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.direction import THRESHOLDS
from tgraph.core.graph import Graph
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
    if call.graph is not None and _pieces(call.graph, call.weights)[0].neighbors.dtype != torch.int32:
        return "its relaxations need int32 neighbours"
    return None


@implements(fixpoint, refuses_call(refuses))
class Fixpoint:
    """A `Loop` in compiled rounds, or in buckets that all threads empty."""

    def __init__(self, call: LoopCall):
        rows, width, rule = _problem(call)
        ids = None if call.active.is_everything else call.active.ids
        delta = 0 if call.delta is None or ids is None else call.delta
        self._graph, self._transposed = call.graph, call.transposed
        self._held: list[Any] = [call.values, rows[1], ids, rows[0]]
        self._relaxation = compiled().Relaxation(*rows, call.values, width, *rule, ids, delta)

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """See `Loop.advance`."""
        return self._advanced(self._relaxation.advance(limit, seconds), limit, seconds)

    def _advanced(self, state: int, limit: int, seconds: float) -> tuple[bool, int]:
        if state == _WANTS_TRANSPOSE:
            self._set_transpose()
            state = self._relaxation.advance(limit - self._relaxation.num_rounds, seconds)
        return state == _DONE, self._relaxation.num_rounds

    def rounds(self) -> list[Round]:
        """See `Loop.rounds`."""
        return [Round(*each) for each in self._relaxation.rounds()]

    def _set_transpose(self) -> None:
        given = self._held[1]
        weights = None if given is None else split(self._transposed())[0]
        rows = _rows(self._graph.transpose() if self._graph.directed else self._graph, given)
        self._held += [rows, weights]
        self._relaxation.set_transpose(rows, weights)

    @property
    def active(self) -> int:
        """The size of the frontier that comes next."""
        return self._relaxation.active


class Again:
    """Loops by one rule along the rows of a graph in CSR, from whatever values: each begins in one call. The tensors
    are held, the graph, which keeps this object, is not."""

    def __init__(self, call: LoopCall):
        rows, width, rule = _problem(call)
        self._held, self._width = rows, width
        self._given = call.weights if isinstance(call.weights, Tensor) else None
        self._address = 0 if self._given is None else self._given.data_ptr()
        delta = 0 if call.delta is None else call.delta
        self._relaxations = compiled().Relaxations(*rows, width, *rule, delta, not call.graph.directed)

    def fits(self) -> bool:
        """Whether the weights are still where they were."""
        return self._given is None or self._given.data_ptr() == self._address == self._held[1].data_ptr()

    def begin(
        self,
        graph: Graph,
        values: Tensor,
        ids: Tensor | None,
        transposed: Callable[[], Any],
        limit: int,
        seconds: float,
    ) -> tuple[bool, int, Fixpoint | None]:
        """A loop that has begun, None where it has ended, after what it returns of `Loop.advance`."""
        found = self._relaxations.relax(values, ids, limit, seconds)
        if type(found) is int:
            return True, found, None
        loop = Fixpoint.__new__(Fixpoint)
        loop._graph, loop._transposed, loop._held = graph, transposed, [values, self._held[1], ids]
        state, loop._relaxation = found
        return *loop._advanced(state, limit, seconds), loop


Fixpoint.again = Again  # type: ignore[attr-defined]


def _pieces(graph: Graph, weights: Any) -> Sequence[Csr | Graph]:
    """A graph, or the pieces that its rows are made of where all arcs have one weight."""
    if graph.layout is not None or (isinstance(weights, Tensor) and weights.dim()):
        return (graph.decoded(),)
    if type(graph.storage) is Csr:  # whose rows are made, as those of most graphs
        return (graph,)
    pieces = cast(Csr, graph.storage).pieces()
    return pieces if len(pieces) > 1 else (graph,)


def _rows(graph: Graph, weights: Any) -> list[tuple[Tensor, Tensor]]:
    """Valid rows, (offset, neighbors) of each piece."""
    pieces = _pieces(graph, weights)
    for each in pieces:
        each.ensure_valid()
    return [(each.offset, each.neighbors) for each in pieces]


def _problem(call: LoopCall) -> tuple[tuple[Any, ...], int, tuple[Any, ...]]:
    """The rows with their weights, the columns of the values, and how these are relaxed, as kernels take them."""
    rows = (_rows(call.graph, call.weights), *split(call.weights), call.best_weight)
    growth = -1 if call.growth is None else min(int(call.growth), torch.iinfo(torch.int64).max)
    edge, mode = list(EDGE_OPERATIONS).index(call.edge), MODES.index(call.mode)
    width = math.prod(call.values.shape[1:]) if call.values.shape[0] else 1
    return rows, width, (growth, call.reduction.name == "min", edge, mode, THRESHOLDS)


def split(weights: Tensor | float | None) -> tuple[Tensor | None, float]:
    """(weights of the arcs, None) or (None, one weight for all)."""
    if isinstance(weights, Tensor):
        return (weights.detach().contiguous(), 0) if weights.dim() else (None, weights.item())
    return None, 0 if weights is None else weights
