"""Capacity-constrained selection: the best candidates of each group, as long as they fit its capacity."""

from __future__ import annotations

import torch
from torch import Tensor


def select_within_capacity(group: Tensor, merit: Tensor, size: Tensor, capacity: Tensor) -> Tensor:
    """The positions of the selected candidates: in each group by descending merit, equals in their order, up to the
    first that no longer fits.

    group, size : int64 [k], the group and the size of each candidate. merit : [k]. capacity : int64 [g], of the groups.
    """
    order = in_groups(group, merit)
    group, size = group[order], size[order]
    filled = size.cumsum(0)
    filled -= (filled - size)[torch.searchsorted(group, group)]
    return order[filled <= capacity[group]]


def best_of_each(group: Tensor, merit: Tensor) -> Tensor:
    """The position of the candidate with the highest merit in each group, the first of equals, by ascending group."""
    order = in_groups(group, merit)
    group = group[order]
    first = torch.ones_like(group, dtype=torch.bool)
    first[1:] = group[1:] != group[:-1]
    return order[first]


def in_groups(group: Tensor, merit: Tensor) -> Tensor:
    """The positions [k] sorted by group, then by descending merit, equals in their order."""
    order = merit.argsort(descending=True, stable=True)
    return order[group[order].argsort(stable=True)]
