"""What is derived from a tensor, kept with that tensor for as long as it lives and is not seen to change.

It hangs on the tensor as an attribute: the garbage collector frees both together, a look-up costs no more than a
dictionary's, and unlike a weak reference it does not stand in the way of `torch.utils.swap_tensors`. Copies and files
of the tensor have none of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

ATTRIBUTE = "_tgraph_memory"

_forgotten = 0  # how often everything was forgotten


class Memory:
    """What was derived from a tensor in one state: {key: value}. `parts` are other tensors that it was derived from,
    held so that no other tensor gets the id of one."""

    __slots__ = ("known", "parts", "state")

    def __init__(self, state: tuple[Any, ...], parts: tuple[Tensor | None, ...]):
        self.state, self.parts = state, parts
        self.known: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is written of it, is empty, and of a type that torch.load(weights_only=True) takes."""
        return OrderedDict, ()


def remembered(
    tensor: Tensor, key: Hashable, build: Callable[[], T], values: Tensor | None, parts: tuple[Tensor | None, ...]
) -> T:
    """What was built under this key for a tensor before, if torch has counted no change since, and the tensor has not
    moved. `values` are those of a sparse matrix; `parts`, of one that shares the tensor with others, are compared by
    identity."""
    addressed = type(tensor) is Tensor and tensor.layout == torch.strided
    state = (
        _forgotten,
        id(tensor),
        tensor._version,
        tensor.shape,
        tensor.data_ptr() if addressed else None,
        None if values is None else values._version,
        *map(id, parts),
    )
    memory = tensor.__dict__.get(ATTRIBUTE)
    if not isinstance(memory, Memory) or memory.state != state:
        memory = tensor.__dict__[ATTRIBUTE] = Memory(state, parts)
    if key not in memory.known:
        memory.known[key] = build()
    return memory.known[key]


def drop(tensor: Tensor) -> None:
    """Forget what was derived from a tensor."""
    tensor.__dict__.pop(ATTRIBUTE, None)


def drop_all() -> None:
    """Forget what was derived from any tensor; the memory of each is free when it is used next, or dies."""
    global _forgotten
    _forgotten += 1
