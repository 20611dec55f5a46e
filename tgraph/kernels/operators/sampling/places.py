"""Vertices numbered in the order of their first occurrence, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator


@operator
def number_vertices(known: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """The places of `vertices` in a list, `known`, behind which those that it does not have are appended: (places,
    list), int64. A vertex that is in the list more than once counts where it is first."""
    both = torch.cat((known, vertices))
    different, inverse = both.unique(return_inverse=True)
    first = torch.full_like(different, len(both))
    first.scatter_reduce_(0, inverse, torch.arange(len(both), device=both.device), "amin")
    new = first[first >= len(known)].sort().values
    place = torch.where(first < len(known), first, len(known) + torch.searchsorted(new, first))
    return place[inverse[len(known) :]], torch.cat((known, both[new]))
