"""Vertices numbered by the kernel in `places.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def number_vertices(known: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.sampling.places.number_vertices`."""
    places = torch.empty(len(vertices), dtype=torch.int64)
    kernel = cast(Any, native.load()).number_vertices
    return places, torch.from_numpy(kernel(known.contiguous(), vertices.contiguous(), places))


OPERATORS = {"number_vertices": Implementation(number_vertices, lambda known, vertices: refuses_data(vertices))}
