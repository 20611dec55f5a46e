"""Random draws of loaders: determined by torch's generator, whatever the number of workers or threads."""

from __future__ import annotations

from contextvars import ContextVar

import torch
from torch import Tensor

from tgraph.core import random

# The epoch of the loop that a batch is prepared for: later ones may have begun since.
IN_LOOP: ContextVar[int | None] = ContextVar("IN_LOOP", default=None)


class Epoch:
    """The number of the epoch of a loader. `is_shared` : with processes started before the epoch begins."""

    def __init__(self, is_shared: bool = False):
        number = torch.zeros((), dtype=torch.int64)
        self._number = number.share_memory_() if is_shared else number

    def begin(self, generator: torch.Generator | None) -> None:
        """Draw the number of a new epoch, by torch's default generator if None."""
        self._number.random_(generator=generator)

    @property
    def number(self) -> int:
        """The number of the present epoch."""
        return int(self._number)

    def draw(self, *seeds: Tensor) -> int:
        """The number of the draw for these seeds."""
        epoch = self.number if (given := IN_LOOP.get()) is None else given
        return sum(int(random.words(epoch, index.long()).sum()) for index in seeds) % 2**63


def draw(epoch: Epoch | None, *seeds: Tensor) -> int:
    """The number of the draw for these seeds in an epoch; without an epoch, a random one."""
    return chance() if epoch is None else epoch.draw(*seeds)


def chance(generator: torch.Generator | None = None) -> int:
    """A random int64 of torch."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator))
