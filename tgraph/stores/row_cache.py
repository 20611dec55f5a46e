"""A cache of the rows of one tensor, with eviction by S3-FIFO; all operations are batched."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.stores.blocks import Stat

PER_ROW, PER_SLOT = 4, 9  # bytes beside the values: of each row of the tensor, of each cached row
_MOST_USES = 3
_TAKEN = 255  # uses of a slot assigned in the present call
_ABSENT = -1
_PERIOD = (1 << 31) - 2  # of the numbers of evicted rows, stored in a place as -2 and less


class RowCache:
    """The most used rows of one version of a tensor, in `slots` slots; rows `pinned` [p] are never evicted.

    S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023): new rows enter a small queue, a
    tenth of the slots, and move from its end to the main queue if used again, else are evicted. A row that returns soon
    after its eviction enters the main queue at once. The main queue is a ring: a hand decrements the use counts, at
    most 3, and evicts rows with count 0.
    """

    def __init__(self, stat: Stat, slots: int, pinned: Tensor):
        self.stat: Stat = stat
        self.slots: int = slots
        self._place = torch.full((stat.shape[0],), _ABSENT, dtype=torch.int32)  # of each row: slot, or eviction time
        self._row = torch.full((slots,), -1, dtype=torch.int64)
        self._uses = torch.zeros(slots, dtype=torch.uint8)
        self._values = fresh((slots, *stat.shape[1:]), stat.dtype)
        # slots: [pinned | small queue | main queue]
        self._first = min(len(pinned), slots)
        self._row[: self._first] = pinned[: self._first]
        self._main = self._first + -(-(slots - self._first) // 10)
        self._head, self._hand, self._unfilled, self._left = self._first, self._main, self._main, 0

    @property
    def pinned(self) -> Tensor:
        """The pinned rows, int64 [p]."""
        return self._row[: self._first]

    def pin(self, begin: int, values: Tensor) -> None:
        """Set the values of the pinned rows from position `begin` on."""
        slots = torch.arange(begin, begin + len(values))
        self._fill(slots, self._row[slots], values)

    def get(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """(rows at `index` [k], positions of missing rows, with undefined values)"""
        place = self._place.index_select(0, index)
        is_there = place >= 0
        slots = place[is_there].long()
        self._uses[slots] = (self._uses[slots] + 1).clamp_(max=_MOST_USES)
        found = fresh((len(index), *self.stat.shape[1:]), self.stat.dtype)
        torch.index_select(self._values, 0, place.clamp_(min=0), out=found)
        return found, (~is_there).nonzero().view(-1)

    def add(self, rows: Tensor, values: Tensor) -> None:
        """Add distinct rows [k]."""
        place = self._place[rows]
        if bool((place >= 0).any()):  # another thread was faster
            rows, values, place = (each[place < 0] for each in (rows, values, place))
        returning = (place < _ABSENT) & ((self._left + place + 2) % _PERIOD < self.slots - self._main)
        returning[: self.slots - self._unfilled] = True  # all, while there is room
        self._into_main(rows[returning], values[returning])
        self._into_small(rows[~returning], values[~returning])

    def _into_main(self, rows: Tensor, values: Tensor) -> None:
        slots = self._freed(len(rows))
        evicted = self._row[slots]
        self._place[evicted[evicted >= 0]] = _ABSENT
        self._fill(slots, rows[: len(slots)], values[: len(slots)])

    def _into_small(self, rows: Tensor, values: Tensor) -> None:
        size = self._main - self._first
        through = max(0, len(rows) - size)
        self._note(rows[:through])
        rows, values = rows[through:], values[through:]
        slots = self._first + (self._head - self._first + torch.arange(len(rows))) % max(1, size)
        ends = slots[self._row[slots] >= 0]
        used = self._uses[ends] > 0
        leaving, staying = self._row[ends[~used]], ends[used]
        moved = self._row[staying], self._values[staying]
        self._place[moved[0]] = _ABSENT
        self._into_main(*moved)
        self._note(leaving)
        self._fill(slots, rows, values)
        self._head = self._first + (self._head - self._first + len(rows)) % max(1, size)

    def _freed(self, count: int) -> Tensor:
        """Up to `count` slots of the main queue: unfilled ones, then slots with use count 0 under the hand."""
        new = min(count, self.slots - self._unfilled)
        found = [torch.arange(self._unfilled, self._unfilled + new)]
        self._unfilled += new
        self._uses[found[0]] = _TAKEN
        missing = min(count, self.slots - self._main) - new
        while missing:
            window = self._uses[self._hand : self._hand + max(4 * missing, 1024)]
            unused = (window == 0).nonzero().view(-1)[:missing]
            passed = len(window) if len(unused) < missing else int(unused[-1]) + 1
            window = window[:passed]
            window.sub_((window > 0).byte())
            window[unused] = _TAKEN
            found.append(self._hand + unused)
            missing -= len(unused)
            self._hand += passed
            if self._hand == self.slots:
                self._hand = self._main
        return torch.cat(found)

    def _note(self, rows: Tensor) -> None:
        """Record the eviction times of rows that leave the small queue."""
        self._place[rows] = (-2 - (self._left + torch.arange(len(rows))) % _PERIOD).int()
        self._left = (self._left + len(rows)) % _PERIOD

    def _fill(self, slots: Tensor, rows: Tensor, values: Tensor) -> None:
        self._row[slots] = rows
        self._place[rows] = slots.int()
        self._uses[slots] = 0
        self._values[slots] = values
