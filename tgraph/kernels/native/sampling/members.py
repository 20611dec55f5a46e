"""The arcs that come from some vertices, by the kernel in `members.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import refuses_data


def arcs_from(offset: Tensor, neighbors: Tensor, rows: Tensor, sources: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.sampling.members.arcs_from`."""
    found = fresh((len(rows),), torch.int64)
    held = offset.contiguous(), neighbors.contiguous(), rows.contiguous(), sources.contiguous()
    arcs, places = cast(Any, native.load()).arcs_from(*held, found)
    return found, torch.from_numpy(arcs), torch.from_numpy(places)


OPERATORS = {"arcs_from": Implementation(arcs_from, lambda offset, *others: refuses_data(offset))}
