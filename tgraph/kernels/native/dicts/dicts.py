"""The dicts of a networkx graph as arrays: see `tgraph.io.dicts`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.dispatch import PORTABLE, Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import unavailable

_VIEWS: dict[int, Any] = {1: torch.bool, 2: torch.int64, 3: torch.float64}  # by the number of a kind in dicts.cpp


def refuses(dicts: list[Any], *others: Any) -> str | None:
    """Why a call is not served, None where it is."""
    if not set(map(type, dicts)) <= {dict}:
        return "it reads plain dicts alone, not views of them"
    return unavailable()


def dict_keys(dicts: list[Any], index: dict[Any, int] | None, limit: int, count: int) -> Tensor:
    """As the portable one."""
    numbers = torch.empty(count, dtype=index_dtype(limit), device="cpu")
    if _kernels().read_keys(dicts, index, limit, numbers):
        return numbers
    return PORTABLE.operators["dict_keys"].run(dicts, index, limit, count)


def dict_values(dicts: list[Any], taken: Tensor | None, count: int) -> list[Any]:
    """As the portable one."""
    return _kernels().list_values(dicts, None if taken is None else taken.view(torch.uint8), count)


def dict_column(dicts: list[Any], name: Any) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """As the portable one."""
    values = torch.empty(len(dicts), dtype=torch.int64, device="cpu")
    present = torch.empty(len(dicts), dtype=torch.bool, device="cpu")
    kind, count = _kernels().read_column(dicts, name, values, present)
    if count == 0:
        return None
    if kind not in _VIEWS:
        return PORTABLE.operators["dict_column"].run(dicts, name)
    values = values.bool() if kind == 1 else values.view(_VIEWS[kind])
    return values, None if count == len(dicts) else present


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    "dict_keys": Implementation(dict_keys, refuses),
    "dict_values": Implementation(dict_values, refuses),
    "dict_column": Implementation(dict_column, refuses),
}
