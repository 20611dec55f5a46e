"""Vertices that batches begin with."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.errors import ArgumentError


def checked_vertices(vertices: Tensor | Sequence[int], size: int, name: str) -> Tensor:
    """Indices of vertices, int64 [k]. Raises ArgumentError that names the first one that is none of 0 to size - 1."""
    index = torch.as_tensor(vertices).to(torch.int64).contiguous()
    if index.ndim != 1:
        raise ArgumentError(f"{name}: expected [k], got {list(index.shape)}")
    wrong = (index < 0) | (index >= size)
    if bool(wrong.any()):
        place = int(wrong.nonzero()[0])
        raise ArgumentError(f"{name}[{place}] is {int(index[place])}; vertices are 0 to {size - 1}")
    return index
