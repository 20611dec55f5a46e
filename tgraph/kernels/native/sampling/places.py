"""Vertices numbered by the kernel in `places.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.sampling import places as declared


def _refuses(known: Tensor, vertices: Tensor) -> str | None:
    return refuses_data(vertices)


@implements(declared.number_vertices, _refuses)
def number_vertices(known: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.empty(len(vertices), dtype=torch.int64)
    kernel = compiled().number_vertices
    return places, torch.from_numpy(kernel(known, vertices, places))
