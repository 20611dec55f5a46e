"""Statistics of weights that are read or written block by block: minimum, maximum and mean."""

from __future__ import annotations

import json
import math

import torch
from torch import Tensor

from tgraph.core.system import devices


class WeightStatistics:
    """`smallest` and `largest` (NaN if any weight is), `total` and `count` of the weights added so far."""

    def __init__(self) -> None:
        self.smallest: float = math.inf
        self.largest: float = -math.inf
        self.total: float = 0.0
        self.count: int = 0

    def add(self, weights: Tensor) -> None:
        """Add the weights [e] of a block."""
        if not len(weights):
            return
        block = WeightStatistics()
        block.smallest, block.largest = (end.item() for end in torch.aminmax(weights))
        block.total, block.count = float(weights.sum(dtype=devices.widest_float(weights))), len(weights)
        self.merge(block)

    def merge(self, other: WeightStatistics) -> None:
        """Add the weights that were added to others."""
        nan = other.smallest != other.smallest or self.smallest != self.smallest
        self.smallest = math.nan if nan else min(self.smallest, other.smallest)
        self.largest = math.nan if nan else max(self.largest, other.largest)
        self.total += other.total
        self.count += other.count

    def summary(self) -> tuple[float, float, float]:
        """(smallest, largest, mean), for at least one weight."""
        return self.smallest, self.largest, self.total / self.count

    def note(self) -> str:
        """The summary as text, for the metadata of a file."""
        return json.dumps(self.summary())


def read_note(note: str | None) -> tuple[float, float, float] | None:
    """(smallest, largest, mean) from the metadata; None in files of earlier versions, which lack it."""
    if note is None:
        return None
    smallest, largest, mean = json.loads(note)
    return smallest, largest, mean
