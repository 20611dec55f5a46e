"""Shortest distances over the parts of ranks that share memory, in the order of buckets.

As exchanges take microseconds there, they can be many, and buckets narrow: each rank relaxes the vertices of the open
buckets in their order, along all arcs of its part, until none is left, and then sends the best message to each mirror
to its owner, beside the first bucket that it knows of. The first one of all ranks is open next.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS, refusal
from tgraph.core.graph import Graph
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.parts.part import Part
from tgraph.distributed.ranks.ownership import Active
from tgraph.distributed.ranks.shared import memory_of
from tgraph.engine import overflow
from tgraph.engine.planning import COMPILED_WIDTH
from tgraph.kernels.operators.relaxation.part_buckets import Buckets
from tgraph.model.program import Relaxation

NOTHING = torch.iinfo(torch.int64).max
OPEN = 4  # buckets that are open at once: with fewer there are more exchanges, with more a vertex is relaxed more often


class Nearest:
    """The queued vertices of a search, and a round from them, as `Relaxing`; made and called by all ranks together.

    own : the values of own vertices, in the memory of the buckets. first : those to be relaxed, int64 [j].
    """

    is_everything = False

    def __init__(self, part: Part, values: Sharded, own: Tensor, buckets: Buckets, first: Tensor):
        self._part, self._values, self._own, self._buckets = part, values, own, buckets
        buckets.queue(first)
        self._size = len(first), int(part.degree.index_select(0, first).sum())
        self._known: Active | None = None  # of the round before
        self._least = NOTHING  # the first bucket of all ranks

    @classmethod
    def of(
        cls, part: Part, graph: Graph, values: Sharded, first: Tensor | None, program: Relaxation, any_order: bool
    ) -> Nearest | None:
        """None, on all ranks, where they share no memory or have no such buckets."""
        if not any_order or first is None or part.cut is not None or memory_of(part.ownership.group) is None:
            return None
        width = program.bucket_width(graph, values)
        if width is None:
            return None
        dtype = _narrow(values, part, overflow.growth(program, graph, None))
        held = torch.full((part.num_local,), _unreached(dtype), dtype=dtype, device=values.device)
        own = held[: part.num_own]
        own.copy_(values.local.clamp(max=_unreached(dtype)))
        given = part.inside, part.outside, held, width * COMPILED_WIDTH
        is_able = torch.tensor(refusal("native", "part_buckets", *given) is None, device="cpu")
        if not bool(part.ownership.gather(is_able).all()):
            return None
        return cls(part, values, own, BACKENDS["native"].operators["part_buckets"].run(*given), first)

    def write(self) -> None:
        """Write the values where the results are seen."""
        local, own = self._values.local, self._own
        local.copy_(own)
        if own.dtype != local.dtype:
            local.masked_fill_(own == _unreached(own.dtype), _unreached(local.dtype))

    def measure(self, late: bool) -> Active:
        """The vertices relaxed in the round before, at first those queued."""
        if self._known is None:
            shared = self._part.ownership.gather(torch.tensor(self._shared(*self._size, late), device="cpu"))
            return self._take(shared)
        return self._known

    def _shared(self, size: int, arcs: int, late: bool, sent: int = NOTHING) -> list[int]:
        """The numbers sent to all ranks; `sent` : the first bucket of what is sent."""
        return [size, arcs, late, min(sent, self._buckets.next_bucket())]

    def _take(self, shared: Tensor) -> Active:
        """Note the numbers of all ranks, int64 [p, 4]."""
        self._known, self._least = Active.of_ranks(shared[:, :3]), int(shared[:, 3].min())
        return self._known

    def reopen(self) -> bool:
        """Whether vertices are queued on any rank, when none was relaxed."""
        return self._least < NOTHING

    def round(self, pull: bool, known: Active, late: bool) -> Active:
        """Relax the vertices of the open buckets, whose number on all ranks is returned, and exchange messages."""
        size, arcs = self._buckets.run(min(self._least, NOTHING - OPEN) + OPEN)
        mirrors, messages, sent = self._buckets.reached()
        sending = self._part.requests.send_changed(mirrors, messages, self._shared(size, arcs, late, sent))
        slots, messages = sending.wait()
        self._buckets.receive(self._part.copied.index_select(0, slots), messages)
        return self._take(sending.shared)

    @property
    def mask(self) -> Tensor:
        """The own vertices that are queued, of all buckets, bool [k]."""
        return self._buckets.queued()


def _unreached(dtype: torch.dtype) -> float:
    """The value of a vertex that is not reached."""
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def _narrow(values: Sharded, part: Part, growth: float | None) -> torch.dtype:
    """int32 in place of int64 where no value can become larger: half the memory that arcs access at random."""
    if values.dtype != torch.int64 or growth is None:
        return values.dtype
    reached = values.local.masked_fill(values.local == _unreached(torch.int64), 0).abs()
    most = reached.max() if len(reached) else torch.tensor(0, device=values.device)
    fits = int(part.ownership.gather(most).max()) + growth < _unreached(torch.int32)
    return torch.int32 if fits else torch.int64
