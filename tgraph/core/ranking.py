"""Which rows of vertex data are the largest."""

from __future__ import annotations

import torch
from torch import Tensor


def largest(values: Tensor, k: int) -> Tensor:
    """The indices int64 [k] of the `k` largest of the values [n], largest first, ties by smallest index, NaN last; all
    where there are fewer than k. The same on every process where the values are spread over several."""
    if hasattr(values, "largest"):
        return values.largest(k)
    ranked = values.masked_fill(values.isnan(), -torch.inf) if values.is_floating_point() else values
    ranked = ranked.to(torch.uint8) if ranked.dtype == torch.bool else ranked
    threshold = torch.topk(ranked, min(k, len(ranked))).values[-1:]
    candidates = (ranked >= threshold).nonzero().flatten()
    return candidates[torch.sort(ranked[candidates], descending=True, stable=True).indices[:k]]
