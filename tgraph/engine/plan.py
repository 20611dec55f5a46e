"""What is settled about a run before its first round."""

from __future__ import annotations

from dataclasses import dataclass

from tgraph.engine.overflow import Watch
from tgraph.kernels import Choice


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """limit : beyond so many rounds the run has failed, None for no limit.
    width : of the buckets in which to relax, None for no order.
    watch : what looks at the integers that are sent while the rounds go on; None where none can overflow.
    loop : the backend that runs the whole loop, or why none does; None for programs that bring their own steps.
    best : the weight of an arc that no other beats, None where that says nothing about messages.
    growth : how far a value can move away from the first ones, None where that is not known.
    """

    limit: int | None
    width: float | None = None
    watch: Watch | None = None
    loop: Choice | None = None
    best: float | None = None
    growth: float | None = None
