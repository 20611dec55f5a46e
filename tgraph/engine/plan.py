"""The decisions about a run before its first iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tgraph.engine.overflow import Watch
from tgraph.kernels import Choice


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """limit : the number of rounds after which the run fails, None for no limit.
    width : of the buckets, None for no order.
    watch : the overflow check between rounds, None where no overflow is possible.
    loop : the choice of a backend for the whole loop, or why none supports it; None for programs with steps of their
        own.
    best : the best weight of an arc, None where it does not bound messages.
    growth : a bound on the distance of a value to the initial values, None if unknown.
    again : begins the loop of a later run in one call, None where a backend has no such.
    """

    limit: int | None
    width: float | None = None
    watch: Watch | None = None
    loop: Choice | None = None
    best: float | None = None
    growth: float | None = None
    again: Any = None
