"""Fresh vertex data that is sharded from the beginning, so that no rank ever has all of it."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.ranks.ownership import Ownership

# Fewer rows are made on every rank, where an operation takes less time than on sharded data.
LARGE = 1 << 16

# Functions of a size, with the arguments that come between size and the named ones.
_FILLED = (torch.full, torch.zeros, torch.ones, torch.empty)


class Spreading(TorchFunctionMode):
    """A context in which torch.full, zeros, ones, empty and arange make data sharded by `ownership`, for tensors
    [n, ...] of at least LARGE rows. To be entered by all ranks.

    The values are the same in either case: a plain tensor is equal on all ranks.
    """

    def __init__(self, ownership: Ownership):
        super().__init__()
        self._ownership = ownership

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        held = self._ownership
        if held.num_rows < LARGE or "out" in kwargs:
            return function(*args, **kwargs)
        if function is torch.arange and args == (held.num_rows,) and "end" not in kwargs:
            return Sharded(torch.arange(held.first, held.end, **kwargs), held)
        if function in _FILLED:
            size, rest = _size(function, args, kwargs)
            if size[:1] == [held.num_rows]:
                named = {name: value for name, value in kwargs.items() if name != "size"}
                return Sharded(function([held.num_own, *size[1:]], *rest, **named), held)
        return function(*args, **kwargs)


def _size(function: Any, args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """(the size that is asked for, the arguments after it)"""
    if "size" in kwargs:
        return list(kwargs["size"]), args
    if args and not isinstance(args[0], int):
        return list(args[0]), args[1:]
    return ([], args) if function is torch.full else (list(args), ())
