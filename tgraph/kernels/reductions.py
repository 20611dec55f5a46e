"""The reductions and edge operations of `aggregate`, and the identity of each reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.errors import ArgumentError


@dataclass(frozen=True)
class Reduction:
    """A reduction by its name, with its names in torch."""

    name: str
    scatter: str  # for Tensor.scatter_reduce
    segment: str  # for torch.segment_reduce
    logical: bool = False

    def identity(self, dtype: torch.dtype) -> float | int | bool:
        """The identity of the reduction, and the value of a vertex without messages: for min +inf or the largest value
        of the dtype; for mean 0."""
        if self.name in ("sum", "mean", "any"):
            return 0
        if self.name in ("prod", "all"):
            return 1
        lowest, highest = _limits(dtype)
        return highest if self.name == "min" else lowest

    def better(self, left: Tensor, right: Tensor) -> Tensor:
        """Where `left` is strictly better than `right`, bool; for min and max."""
        return left < right if self.name == "min" else left > right

    def best(self, values: Tensor) -> Tensor:
        """The best of all values, for min and max."""
        return values.amin() if self.name == "min" else values.amax()

    def worst(self, values: Tensor) -> Tensor:
        """The worst of all values, for min and max."""
        return values.amax() if self.name == "min" else values.amin()


REDUCTIONS = {
    reduction.name: reduction
    for reduction in (
        Reduction("sum", "sum", "sum"),
        Reduction("mean", "mean", "mean"),
        Reduction("min", "amin", "min"),
        Reduction("max", "amax", "max"),
        Reduction("prod", "prod", "prod"),
        Reduction("any", "amax", "max", logical=True),
        Reduction("all", "amin", "min", logical=True),
    )
}

EDGE_OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "copy": lambda data, weight: data,
    "add": torch.add,
    "mul": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}


def reduction_of(name: str) -> Reduction:
    """The reduction of that name. Raises ArgumentError for an unknown one."""
    if not isinstance(name, str) or name not in REDUCTIONS:
        raise ArgumentError(f"reduce: {name!r} is not one of {', '.join(map(repr, REDUCTIONS))}")
    return REDUCTIONS[name]


def check_edge_operation(name: str) -> None:
    """Raise ArgumentError for an unknown edge operation."""
    if name not in EDGE_OPERATIONS:
        raise ArgumentError(f"edge: {name!r} is not one of {', '.join(map(repr, EDGE_OPERATIONS))}")


def _limits(dtype: torch.dtype) -> tuple[float | int | bool, float | int | bool]:
    if dtype == torch.bool:
        return False, True
    if dtype.is_floating_point:
        return float("-inf"), float("inf")
    info = torch.iinfo(dtype)
    return info.min, info.max
