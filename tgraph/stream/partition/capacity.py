"""Who finds room: of those that want to join groups of bounded size, the best of each group as long as they fit."""

from __future__ import annotations

import torch
from torch import Tensor


def select_within_capacity(group: Tensor, merit: Tensor, size: Tensor, room: Tensor) -> Tensor:
    """The positions among the candidates [k] of those that join: in each group by falling merit, equals in their order,
    up to the first that no longer fits.

    group, size : int64 [k], where each wants to go and what it takes. merit : [k]. room : int64 [g], what each group
    has left.
    """
    order = in_groups(group, merit)
    group, size = group[order], size[order]
    filled = size.cumsum(0)
    filled -= (filled - size)[torch.searchsorted(group, group)]
    return order[filled <= room[group]]


def best_of_each(group: Tensor, merit: Tensor) -> Tensor:
    """The position of the candidate of most merit in each group, the first of equals, by ascending group."""
    order = in_groups(group, merit)
    group = group[order]
    first = torch.ones_like(group, dtype=torch.bool)
    first[1:] = group[1:] != group[:-1]
    return order[first]


def in_groups(group: Tensor, merit: Tensor) -> Tensor:
    """The positions [k] group by group, in each by falling merit, equals in their order."""
    order = merit.argsort(descending=True, stable=True)
    return order[group[order].argsort(stable=True)]
