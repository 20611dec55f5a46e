"""What is drawn by a loader follows from torch's random numbers, not from the number of its workers or threads."""

from __future__ import annotations

from contextvars import ContextVar

import torch
from torch import Tensor

from tgraph.core import random

# The number of the epoch of the loop that a batch is prepared for: others may have begun since.
IN_LOOP: ContextVar[int | None] = ContextVar("IN_LOOP", default=None)


class Epoch:
    """The number of the epoch of a loader. `is_shared` : with processes that have started before it begins."""

    def __init__(self, is_shared: bool = False):
        number = torch.zeros((), dtype=torch.int64)
        self._number = number.share_memory_() if is_shared else number

    def begin(self, generator: torch.Generator | None) -> None:
        """Draw the number of the epoch that begins; by torch's own generator if none is given."""
        self._number.random_(generator=generator)

    @property
    def number(self) -> int:
        """What was drawn."""
        return int(self._number)

    def draw(self, *seeds: Tensor) -> int:
        """The number of the draw for these seeds."""
        epoch = self.number if (given := IN_LOOP.get()) is None else given
        return sum(int(random.words(epoch, index.long()).sum()) for index in seeds) % 2**63


def draw(epoch: Epoch | None, *seeds: Tensor) -> int:
    """The number of the draw for these seeds in an epoch, or, where no loader tells the epoch, by chance."""
    return chance() if epoch is None else epoch.draw(*seeds)


def chance(generator: torch.Generator | None = None) -> int:
    """A number drawn by torch."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator))
