"""What the power iterations share: vertex data in the dtype asked for, sums in the widest there is.

A float32 sum over the arcs of a hub is off by more than a tolerance of 1e-6 allows, and the iteration would circle
around its fixpoint for ever.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

import tgraph as tg


def wide(values: Tensor) -> Tensor:
    """The values in float64; in float32 on Apple's GPUs, which have nothing wider."""
    return values.to(torch.float32 if values.device.type == "mps" else torch.float64)


def change(before: Tensor, after: Tensor) -> Tensor:
    """How far an iteration moved the values in all (L1), a scalar without gradient."""
    return (wide(after.detach()) - wide(before.detach())).abs().sum()


def check_weights(graph: tg.Graph) -> None:
    """Raise ArgumentError unless all weights are finite and not negative."""
    smallest, largest = graph.weight_range
    if not 0 <= smallest <= largest < math.inf:
        raise tg.errors.ArgumentError(
            f"weights: expected finite weights that are not negative, these range from {smallest} to {largest}; "
            "replace the others, or leave weighted=False"
        )


def check_dtype(dtype: torch.dtype) -> None:
    """Raise ArgumentError unless the dtype of the scores is floating."""
    if not dtype.is_floating_point:
        raise tg.errors.ArgumentError(f"dtype: scores are fractions, {dtype} cannot hold them; use a floating dtype")
