"""Rows that kernels can follow: offsets that ascend over all arcs, and neighbours that are no less than 0.

Kernels check no entry, as that would take as long as they do. Rows are checked once, in O(n + m), before they reach the
first one, and again where they have changed since: the finding is kept with the neighbours, beside the version counters
and addresses of both tensors, which every operation of torch in place, `set_`, `resize_` and an assignment to `data`
alter. Writes around torch, through numpy or into the file of a memory map, alter neither.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor

from tgraph.core import dispatch
from tgraph.core.building import memory, validate
from tgraph.errors import ArgumentError

ATTRIBUTE = "_tgraph_sound"

_MANY = 1 << 22  # arcs: torch looks through more on all threads

State = tuple[int, int, int, int]


class Sound:
    """A finding about rows: their `state`, and the `bound` below which all neighbours are. Copies and pickles of the
    tensor that has it are without, and of a type that torch.load(weights_only=True) accepts."""

    __slots__ = ("bound", "offset", "state")

    def __init__(self, offset: Tensor, state: State | None, bound: int):
        self.offset, self.state, self.bound = weakref.ref(offset), state, bound

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, ()

    def __deepcopy__(self, memo: Any) -> None:
        return None


def owned(tensor: Tensor, name: str) -> Tensor:
    """The tensor, readable as in `core.building.memory`, with a version counter: inference tensors are copied."""
    tensor = memory.readable(tensor, name)
    if torch.compiler.is_compiling() or not tensor.is_inference():
        return tensor
    with torch.inference_mode(False):
        return tensor.clone()


def ensure_sound(offset: Tensor, neighbors: Tensor, num_columns: int) -> Sound:
    """The finding about rows whose neighbours are below `num_columns`; O(1) where nothing has changed since it was.

    Raises ArgumentError where an offset or a neighbour is none.
    """
    if torch._C._len_torch_function_stack():  # a mode, such as that of fusion, would see each access
        with torch._C.DisableTorchFunction():
            return _ensured(offset, neighbors, num_columns)
    known: Any = neighbors.__dict__.get(ATTRIBUTE)  # nothing has changed: told in the least time, as each operator asks
    if (
        type(known) is Sound
        and known.state is not None
        and known.bound <= num_columns
        and known.offset() is offset
        and known.state == (offset._version, neighbors._version, offset.data_ptr(), neighbors.data_ptr())
    ):
        return known
    return _ensured(offset, neighbors, num_columns)


def _ensured(offset: Tensor, neighbors: Tensor, num_columns: int) -> Sound:
    known: Any = neighbors.__dict__.get(ATTRIBUTE)
    try:
        state = (offset._version, neighbors._version, offset.data_ptr(), neighbors.data_ptr())
    except RuntimeError:  # inference tensors have no version: nothing tells whether they changed
        return _checked(offset, neighbors, num_columns, None)
    if type(known) is not Sound or known.state != state or known.offset() is not offset:
        return _checked(offset, neighbors, num_columns, state)
    if known.bound > num_columns:
        validate.check_range(neighbors, num_columns)
    return known


def _checked(offset: Tensor, neighbors: Tensor, num_columns: int, state: State | None) -> Sound:
    memory.readable(offset, "offset")
    memory.readable(neighbors, "neighbors")
    if len(neighbors) > _MANY or not is_sound(offset, neighbors, num_columns):
        check(offset, neighbors, num_columns)
    return _keep(offset, neighbors, state, num_columns)


@dispatch.setup_operator
def is_sound(offset: Tensor, neighbors: Tensor, num_columns: int) -> bool:
    """Whether offsets ascend over all neighbours, and these are below `num_columns`."""
    try:
        check(offset, neighbors, num_columns)
    except ArgumentError:
        return False
    return True


def check(offset: Tensor, neighbors: Tensor, num_columns: int) -> None:
    """Raise ArgumentError for what is wrong with rows first."""
    validate.check_ends(offset, neighbors)
    validate.check_offset(offset)
    validate.check_range(neighbors, num_columns)


def trust(offset: Tensor, neighbors: Tensor, num_columns: int) -> None:
    """Note that rows are sound as they are, which our own kernels have just made."""
    if torch.compiler.is_compiling() or type(neighbors) is not Tensor or type(offset) is not Tensor:
        return
    try:
        state = (offset._version, neighbors._version, offset.data_ptr(), neighbors.data_ptr())
    except RuntimeError:
        return
    _keep(offset, neighbors, state, num_columns)


dispatch.ensure_rows = ensure_sound


def _keep(offset: Tensor, neighbors: Tensor, state: State | None, bound: int) -> Sound:
    found = Sound(offset, state, bound)
    if state is not None:
        neighbors.__dict__[ATTRIBUTE] = found
    return found
