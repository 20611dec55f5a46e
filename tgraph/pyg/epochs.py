"""What is drawn by a loader follows from torch's random numbers, not from the number of its workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from tgraph.core import random


def begin(loader: Any) -> int | None:
    """The number of the epoch that begins, drawn by torch: workers that start now are given it. None where they started
    before."""
    return None if loader.persistent_workers else chance()


def draw(epoch: int | None, *seeds: Tensor) -> int:
    """The number of the draw for these seeds in an epoch, or, where no loader tells the epoch, by chance."""
    if epoch is None:
        return chance()
    return sum(int(random.words(epoch, index.long()).sum()) for index in seeds) % 2**63


def chance() -> int:
    """A number drawn by torch."""
    return int(torch.empty((), dtype=torch.int64).random_())


class Epochs:
    """Put before a DataLoader: notes the number of each epoch before its workers start."""

    epoch: int | None = None

    def __iter__(self) -> Iterator[Any]:
        self.epoch = begin(self)
        return super().__iter__()  # type: ignore[misc]
