"""A cache of values derived from a tensor, valid for the tensor's lifetime until the tensor is modified.

It is an attribute of the tensor: the garbage collector frees both together, a look-up is one of a dictionary, and
unlike a weak reference it does not prevent `torch.utils.swap_tensors`. Copying or saving the tensor drops it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

ATTRIBUTE = "_tgraph_memory"

_forgotten = 0  # calls of drop_all so far


class Memory:
    """Values derived from a tensor in one state, `known` {key: value}. `parts` : other tensors they are derived from,
    referenced so that their ids are not reused."""

    __slots__ = ("known", "parts", "state")

    def __init__(self, state: tuple[Any, ...], parts: tuple[Tensor | None, ...]):
        self.state: tuple[Any, ...] = state
        self.parts: tuple[Tensor | None, ...] = parts
        self.known: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are empty, and of a type that torch.load(weights_only=True) accepts."""
        return OrderedDict, ()


def is_cacheable(edge_index: Any) -> bool:
    """Whether `cached` accepts an edge_index: a plain tensor with a version counter."""
    strided = type(edge_index) is Tensor and edge_index.layout == torch.strided
    return strided and not edge_index.is_inference() and not edge_index.requires_grad


def cached(
    tensor: Tensor,
    key: Hashable,
    build: Callable[[], T],
    values: Tensor | None = None,
    parts: tuple[Tensor | None, ...] = (),
) -> T:
    """The value cached under a key, or built and cached; valid while the version counter and address of the tensor are
    the same. `values` : of a sparse matrix, with a version too. `parts` : other tensors of a matrix, compared by id."""
    address = tensor.data_ptr() if type(tensor) is Tensor and tensor.layout == torch.strided else None
    versions = tensor._version, None if values is None else values._version
    state = (_forgotten, id(tensor), *versions, tensor.shape, address, *map(id, parts))
    memory = tensor.__dict__.get(ATTRIBUTE)
    if not isinstance(memory, Memory) or memory.state != state:
        memory = tensor.__dict__[ATTRIBUTE] = Memory(state, parts)
    if key not in memory.known:
        memory.known[key] = build()
    return memory.known[key]


def drop(tensor: Tensor) -> None:
    """Drop the cache of a tensor."""
    tensor.__dict__.pop(ATTRIBUTE, None)


def drop_all() -> None:
    """Invalidate the caches of all tensors; each is freed at the next use of its tensor, or with it."""
    global _forgotten
    _forgotten += 1
