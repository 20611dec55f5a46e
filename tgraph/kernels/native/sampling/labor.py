"""Arcs by random words of their sources, by the kernel in `labor.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import refuses_data
from tgraph.kernels.native.sampling.visits import filled


def least_arcs(offset: Tensor, neighbors: Tensor, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.sampling.labor.least_arcs`."""
    found, arcs = fresh((len(rows),), torch.int64), fresh((len(rows), count), torch.int64)
    held = offset.contiguous(), neighbors.contiguous(), rows.contiguous()
    cast(Any, native.load()).least_arcs(*held, count, key, arcs, found)
    return found, filled(arcs, found)


OPERATORS = {"least_arcs": Implementation(least_arcs, lambda offset, *others: refuses_data(offset))}
