"""Relaxations that a backend runs to their fixpoint without a return to Python for each round.

The operator `fixpoint` of a backend makes a `Loop` of a `LoopCall`; `tgraph.engine.compiled_loop` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from torch import Tensor

from tgraph.core.dispatch import optional_operator
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.kernels.reductions import Reduction


class Round(NamedTuple):
    """One round of a loop, or one visit to a block of a streamed graph.

    pulled : whether rows pulled. active, arcs : numbers of the active vertices and of their arcs. changed : the number
    of vertices that changed. milliseconds : of this process. began : the clock of `time.perf_counter` at its beginning,
    None where not recorded.
    """

    pulled: bool
    active: int
    arcs: int
    changed: int
    milliseconds: float
    began: float | None = None


def _no_weights() -> Tensor | float | None:
    return None


class LoopCall(NamedTuple):
    """The start of a relaxation along the rows of a graph.

    values : [n, ...], contiguous, overwritten. active : the first frontier. weights : of the stored arcs, [m], a number
        for all, or None for those of the arcs. transposed : gives those of the arcs of the transpose.
    best_weight : the weight that no other beats, None where the best value over it need not be the best message.
    mode : "auto", "push" or "pull". growth : how far a value can move away from the first ones, None where unknown.
    delta : the width of buckets, or None. any_order : whether vertices may send values of the same round.
    """

    graph: Graph
    values: Tensor
    active: Frontier
    reduction: Reduction
    edge: str
    weights: Tensor | float | None = None
    transposed: Callable[[], Tensor | float | None] = _no_weights
    best_weight: float | None = None
    mode: str = "auto"
    growth: float | None = None
    delta: float | None = None
    any_order: bool = True


class Loop(Protocol):
    """A relaxation under way."""

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Run at most `limit` rounds and about so many seconds: whether no vertex is active any more, and the number of
        rounds run."""
        ...

    def rounds(self) -> list[Round]:
        """The rounds of the last `advance`."""
        ...

    @property
    def active(self) -> int:
        """The number of active vertices; 0 at the end."""
        ...


class PausedLoop(Loop, Protocol):
    """A loop of a layout, which knows its frontier between two calls of `advance`."""

    @property
    def frontier(self) -> Tensor:
        """The mask of the active vertices, bool [n]."""
        ...


@optional_operator
def fixpoint(call: LoopCall) -> Loop:
    """The loop of a relaxation: an operator that no backend needs to have, where `tgraph.engine` loops itself."""
    raise NotImplementedError
