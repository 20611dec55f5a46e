"""Seeds of samplers: vertices, and of random draws."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.errors import ArgumentError


class Seeded:
    """A sampler whose draws depend on its `seed` and the number of the call alone."""

    seed: int
    _calls = 0

    def _key(self, draw: int | None) -> int:
        """The key of call number `draw`, by default counted."""
        if draw is None:
            draw = self._calls
            self._calls += 1
        return random.key(self.seed, draw)


def checked_vertices(vertices: Tensor | Sequence[int], size: int, name: str) -> Tensor:
    """Indices of vertices, int64 [k]. Raises ArgumentError with the first index out of 0 to size - 1."""
    index = torch.as_tensor(vertices).to(torch.int64).contiguous()
    if index.ndim != 1:
        raise ArgumentError(f"{name}: expected [k], got {list(index.shape)}")
    wrong = (index < 0) | (index >= size)
    if bool(wrong.any()):
        place = int(wrong.nonzero()[0])
        raise ArgumentError(f"{name}[{place}] is {int(index[place])}; vertices are 0 to {size - 1}")
    return index
