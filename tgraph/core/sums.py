"""Sums of integers that are exact, or known not to fit.

Where the largest magnitude times the number of terms fits 64 bits no sum can wrap. Else the upper and the lower half of
each number are added apart, which neither wraps nor rounds.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.errors import ArgumentError

MOST = 2**63 - 1  # what int64 holds
HALF = 2**32


def ends(values: Tensor) -> tuple[int, int]:
    """The least and the largest of integers, 0 for none."""
    if not values.numel():
        return 0, 0
    least, most = torch.aminmax(values)
    return int(least), int(most)


def largest(values: Tensor) -> int:
    """The largest magnitude of integers, 0 for none."""
    return max(map(abs, ends(values)))


def total(values: Tensor) -> int | float:
    """The sum of all values: of integers the number itself, whatever its size."""
    if values.is_floating_point():
        return float(values.sum())
    if values.element_size() < 8 or largest(values) * values.numel() <= MOST:
        return int(values.sum())
    return int((values >> 32).sum()) * HALF + int((values & HALF - 1).sum())


def by_group(values: Tensor, group: Tensor, count: int, dtype: torch.dtype, subject: str) -> Tensor:
    """The sums of the values of `count` groups, [count] of `dtype`; group : int64, of each value.

    Raises ArgumentError, which begins with the `subject` that adds up, for integers whose sum the dtype cannot hold.
    """
    if values.is_floating_point():
        return values.new_zeros(count, dtype=dtype).index_add_(0, group, values.to(dtype))
    wide = values.to(torch.int64)
    zeros = torch.zeros(count, dtype=torch.int64, device=values.device)
    low = zeros.index_add(0, group, wide & HALF - 1)
    high = zeros.index_add_(0, group, wide >> 32).add_(low >> 32)
    sums, limits = (high << 32) | (low & HALF - 1), torch.iinfo(dtype)
    wrong = ((high < -HALF // 2) | (high >= HALF // 2) | (sums < limits.min) | (sums > limits.max)).nonzero()
    if len(wrong):
        place = int(wrong[0])
        raise does_not_fit(int(high[place]) * HALF + int(low[place]) % HALF, dtype, subject)
    return sums.to(dtype)


def does_not_fit(total: int, dtype: torch.dtype, subject: str) -> ArgumentError:
    """The error for what adds up to more than its dtype holds."""
    wider = "torch.float64" if dtype == torch.int64 else "torch.int64 or torch.float64"
    return ArgumentError(f"{subject} add up to {total}, which {dtype} cannot hold; convert the weights to {wider}")


def leaves(value: Tensor, weight: Tensor, edge: str, least: int, most: int) -> Tensor:
    """Where value + weight, or value * weight, lies outside of least .. most; int64, without leaving it."""
    if edge == "add":
        return torch.where(weight > 0, value > most - weight, value < least - weight)
    negated, none = weight == -1, weight == 0  # divided by below only where neither
    divisor = torch.where(negated | none, 1, weight)
    ends = [torch.div(torch.full_like(divisor, end), divisor, rounding_mode="trunc") for end in (least, most)]
    low, high = torch.minimum(*ends), torch.maximum(*ends)
    low = torch.where(negated, -most, low)
    high = torch.where(negated, min(-least, torch.iinfo(torch.int64).max), high)
    return ~none & ((value < low) | (value > high))
