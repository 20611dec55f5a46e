"""Times of arcs, compared with numbers that their dtype need not hold."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError


def between(times: Tensor, since: Any, at: Any) -> Tensor:
    """Mask of the times t with since <= t <= at, numbers of any size or None for no limit; bool [m]."""
    stays = torch.ones_like(times, dtype=torch.bool)
    for name, given, rounded in (("since", since, math.ceil), ("at", at, math.floor)):
        if given is None:
            continue
        limit = _number(given, name)
        if times.is_floating_point():
            wide = times.to(torch.float64)
            near = _float(limit)  # an integer between two floats is compared exactly with its neighbour
            stays &= wide >= near if name == "since" else wide <= near
            if near != limit and (near < limit) == (name == "since"):
                stays &= wide != near
            continue
        whole = rounded(limit) if isinstance(limit, float) and math.isfinite(limit) else limit
        held = torch.iinfo(times.dtype)
        if held.min <= whole <= held.max:
            stays &= times >= whole if name == "since" else times <= whole
        elif (whole > held.max) == (name == "since"):
            stays &= False
    return stays


def _float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _number(given: Any, name: str) -> int | float:
    """A time as a number of Python. Raises ArgumentError for anything else, and for NaN."""
    number = given.item() if hasattr(given, "item") and getattr(given, "ndim", 0) == 0 else given
    if not isinstance(number, Real) or number != number:
        raise ArgumentError(f"{name}: expected a number, got {given!r}; give it in the unit of the times")
    return number if isinstance(number, (int, float)) else float(number)
