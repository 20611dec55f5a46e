"""The smallest and the largest weight, and what all add up to, of weights that come block by block."""

from __future__ import annotations

import json
import math

import torch
from torch import Tensor

from tgraph.core import devices


class WeightStatistics:
    """What has been added so far: `smallest` and `largest` (NaN where a weight is), and `total`, of `count` weights."""

    def __init__(self) -> None:
        self.smallest: float = math.inf
        self.largest: float = -math.inf
        self.total, self.count = 0.0, 0

    def add(self, weights: Tensor) -> None:
        """Count the weights [e] of a block."""
        if not len(weights):
            return
        smallest, largest = (end.item() for end in torch.aminmax(weights))
        nan = smallest != smallest or self.smallest != self.smallest
        self.smallest = math.nan if nan else min(self.smallest, smallest)
        self.largest = math.nan if nan else max(self.largest, largest)
        self.total += float(weights.sum(dtype=devices.widest_float(weights)))
        self.count += len(weights)

    def summary(self) -> tuple[float, float, float]:
        """(smallest, largest, mean), for at least one weight."""
        return self.smallest, self.largest, self.total / self.count

    def note(self) -> str:
        """The same as text, for the metadata of a file."""
        return json.dumps(self.summary())


def read_note(note: str | None) -> tuple[float, float, float] | None:
    """(smallest, largest, mean) of the text; None without one, which files of earlier versions lack."""
    if note is None:
        return None
    smallest, largest, mean = json.loads(note)
    return smallest, largest, mean
