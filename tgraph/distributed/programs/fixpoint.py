"""Relaxations to their fixpoint over the parts of all ranks, in rounds.

The direction of a round, and the open bucket, follow from numbers that all ranks have. The arcs inside a part are
relaxed while messages travel: see `relaxing` and, where all messages of a round are equal, `hops`.
"""

from __future__ import annotations

import time
from typing import cast

from torch import Tensor

from tgraph.core.direction import DirectionPolicy
from tgraph.core.frontier import Frontier
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.parts.part import Part
from tgraph.distributed.programs import hops
from tgraph.distributed.programs.hops import Hops
from tgraph.distributed.programs.relaxing import Relaxing
from tgraph.distributed.ranks.ownership import is_own
from tgraph.kernels.loops import LoopCall, Round


class Fixpoint:
    """A `Loop` in rounds of all ranks: the numbers of a `Round` are those of all, its times those of this one.

    part : of this rank. The weights of the call are a number for every arc, or None for the weights of the arcs.
    """

    def __init__(self, part: Part, directed: bool, call: LoopCall):
        graph, values, active = call.graph, cast(Sharded, call.values), call.active
        reduction, edge, weights = call.reduction, call.edge, call.weights
        self._ownership = part.ownership
        self._steps: Hops | Relaxing
        first, level = _own_ids(part, active), None
        if edge == "copy" or weights is not None:  # else each arc has a weight of its own
            level = hops.level(part, values.local, first, reduction, edge, weights)
        pushes = directed or (level is None and part.streamed is not None)  # only bits are pulled from blocks
        self._policy = DirectionPolicy(graph, "push" if pushes else "auto", settles=level is not None)
        if level is not None:
            self._steps = Hops(part, values.local, first, reduction, edge, weights, level)
        else:
            self._steps = Relaxing(part, graph, values, first, reduction, edge, weights, call.any_order)
        self._total = 0
        self._done: list[Round] = []

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Continue for about `seconds`, and at most `limit` rounds: (whether no vertex is active on any rank, the
        number of rounds run)."""
        self._done, end = [], time.perf_counter() + seconds
        while len(self._done) < limit:
            began = time.perf_counter()
            late = self._ownership.rank == 0 and began > end
            known = self._steps.measure(late)
            pull = self._policy.pick(known.size, known.arcs, self._steps.is_everything) == "pull"
            active = self._steps.round(pull, known, late)
            if not active.size:
                if self._steps.reopen():
                    continue
                self._total = 0
                return True, len(self._done)
            self._policy.passed(active.size, active.arcs)
            spent = (time.perf_counter() - began) * 1e3
            self._done.append(Round(pull, *active[:2], active.size, spent, began))
            self._total = active.size
            if active.late:
                break
        return False, len(self._done)

    def rounds(self) -> list[Round]:
        """The rounds of the last `advance`."""
        return self._done

    @property
    def active(self) -> int:
        """Number of active vertices in the last round; 0 at the end."""
        return self._total

    @property
    def frontier(self) -> Tensor:
        """The mask of the active vertices, bool [n]."""
        return Sharded(self._steps.mask, self._ownership)


def _own_ids(part: Part, active: Frontier) -> Tensor | None:
    """The active ones of the own vertices, int64 [j]; None for all."""
    if active.is_everything:
        return None
    held, ids = part.ownership, active.ids
    return ids[is_own(ids, held)] - held.first
