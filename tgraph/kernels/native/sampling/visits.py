"""The vertices that walks visit most often, by the kernel in `visits.cpp`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.sampling import visits as declared
from tgraph.kernels.operators.sampling.visits import Step


def _refuses(steps: list[Step], start: Tensor, *others: Any) -> str | None:
    reasons = (refuses_data(step.offset) for step in steps)
    return refuses_data(start) or next((reason for reason in reasons if reason), None)


@implements(declared.most_visited, _refuses)
def most_visited(
    steps: list[Step],
    start: Tensor,
    first: int,
    walks: int,
    traversals: int,
    termination: float,
    count: int,
    key: int,
) -> tuple[Tensor, Tensor, Tensor]:
    count = min(count, walks * traversals)
    found, vertices = fresh((len(start),), torch.int64), fresh((len(start), count), torch.int64)
    visits = fresh((len(start), count), torch.float32)
    held = [(offset.contiguous(), neighbors.contiguous(), *weights) for offset, neighbors, *weights in steps]
    compiled().most_visited(
        held, start.contiguous(), first, walks, traversals, termination, count, key, vertices, visits, found
    )
    return found, filled(vertices, found), filled(visits, found)


def filled(table: Tensor, found: Tensor) -> Tensor:
    """The first `found` entries of each row, one row after the other."""
    return table[torch.arange(table.shape[1]) < found[:, None]]
