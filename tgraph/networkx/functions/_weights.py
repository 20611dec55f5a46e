"""Weights whose sums and products are those of networkx, and refusals of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

import tgraph as tg

EXTREME = 1e-75  # fourth powers of smaller numbers, or of numbers beyond the inverse, lose digits, or are 0 or inf


def summable(graph: tg.Graph, weight: Any) -> tg.Graph:
    """The graph. Raises NotImplementedError if sums of finite weights may be inf: the order of the summands
    decides then."""
    low, high = graph.weight_range
    if graph.weight_dtype is not None and -torch.inf < low and high < torch.inf == 4 * max(-low, high) * graph.num_arcs:
        raise NotImplementedError(f"{weight!r}: sums of weights as large as {max(-low, high)} that may be inf")
    return graph


def of_kind(kind: str, graph: tg.Graph) -> tg.Graph:
    """The graph. Raises ArgumentError unless its weights are of this kind of `tgraph.primitives.weights`."""
    tg.primitives.weights.check(graph, kind, "results as those of networkx")
    return graph


def require_one_kind(G: Any, weight: Any, default: Any = 1) -> bool:
    """True if the weights are integers. Raises NotImplementedError for integers among floats: the type of a sum depends
    on its summands."""
    kinds = {issubclass(kind, (int, np.integer)) for kind in G._kinds_of(weight, default)}
    if len(kinds) > 1:
        raise NotImplementedError(f"the attribute {weight!r} of the edges: integers among floats")
    return True in kinds


def refuse_beyond(largest: int, most: int, weight: Any) -> None:
    """Leave sums up to `largest` to networkx if they may exceed `most`: its integers have no limit."""
    if largest > most:
        raise NotImplementedError(f"{weight!r}: integers that sum up to {largest} may not fit")


def comparable(number: Any) -> Any:
    """The number, within the range of int64, to compare small integers of a tensor with."""
    return max(-(2**62), min(number, 2**62))


def refuse_rounding(graph: tg.Graph, weight: Any, times: int = 1) -> None:
    """Leave integer weights to networkx if float64 would round their sums, added up `times`."""
    if graph.weight_dtype is not None and not graph.weight_dtype.is_floating_point:
        refuse_beyond(int(max(map(abs, graph.weight_range))) * graph.num_arcs * times, 2**53, weight)


def refuse_extreme(graph: tg.Graph, weight: Any) -> tg.Graph:
    """The graph. Float weights are left to networkx if the fourth power of the largest is 0 or inf in float64."""
    if graph.weight_dtype is not None and graph.weight_dtype.is_floating_point:
        largest = max(map(abs, graph.weight_range))
        if not EXTREME < largest < 1 / EXTREME:
            raise NotImplementedError(f"{weight!r}: squares of {largest} lose digits, or are 0 or inf")
    return graph


def refuse_cancelled(graph: tg.Graph, weight: Any, totals: Tensor) -> None:
    """Leave weights of both signs to networkx if one of their `totals` is near 0: its value depends on the order of the
    summands, unless float64 rounds none of them."""
    if graph.weight_dtype is None:
        return
    low, high = graph.weight_range
    largest = max(-low, high)
    exact = not graph.weight_dtype.is_floating_point and largest * graph.num_arcs <= 2**53
    if low < 0 < high and not exact and bool((totals.abs() < largest * 2**-20).any()):
        raise NotImplementedError(f"{weight!r}: weights of both signs that add up to nearly 0")
