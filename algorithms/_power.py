"""What the power iterations share: vertex data in the dtype asked for, sums in the widest there is.

A float32 sum over the arcs of a hub is off by more than a tolerance of 1e-6 allows, and the iteration would circle
around its fixpoint for ever.
"""

from __future__ import annotations

import torch
from torch import Tensor


def wide(values: Tensor) -> Tensor:
    """The values in float64; in float32 on Apple's GPUs, which have nothing wider."""
    return values.to(torch.float32 if values.device.type == "mps" else torch.float64)


def change(before: Tensor, after: Tensor) -> Tensor:
    """How far an iteration moved the values in all (L1), a scalar without gradient."""
    return (wide(after.detach()) - wide(before.detach())).abs().sum()
