"""From what a caller has (edge lists, CSR arrays, in whatever container) to the tensors a Graph stores."""

from __future__ import annotations

import operator
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import memory, sorting
from tgraph.errors import ArgumentError

Multi = Literal["keep", sorting.Merge]
SelfLoops = Literal["keep", "drop"]
IdPolicy = Literal["keep", "compact"]
Tensors = tuple[Tensor, Tensor, "Tensor | None"]


def edges_to_csr(
    src: Tensor, dst: Tensor, weights: Tensor | None, num_vertices: int, directed: bool, multi: Multi, loops: SelfLoops
) -> Tensors:
    """(offset, neighbors, weights) of the arcs src -> dst, and of their reverses where the edges are undirected."""
    return numbered_csr(src, dst, weights, num_vertices, directed, multi, loops, False)[0]


def numbered_csr(
    src: Tensor,
    dst: Tensor,
    weights: Tensor | None,
    num_vertices: int,
    directed: bool,
    multi: Multi,
    loops: SelfLoops,
    numbered: bool = True,
) -> tuple[Tensors, Tensor | None]:
    """The same, and the number of the edge that each arc is, int64 [m], the first of parallel ones that are merged;
    None unless `numbered`."""
    offset, neighbors, order = sorting.sort_edges(
        src, dst, num_vertices, permutation=numbered or weights is not None, both_ways=not directed
    )
    if weights is not None and order is not None:
        weights = sorting.take(weights, order)
    order = order if numbered else None
    if loops == "drop":
        order = None if order is None else sorting.drop_self_loops(offset, neighbors, order)[2]
        offset, neighbors, weights = sorting.drop_self_loops(offset, neighbors, weights)
    if multi != "keep":
        arcs = offset, neighbors
        offset, neighbors, weights = sorting.merge_parallel(*arcs, weights, multi)
        order = None if order is None else sorting.merge_parallel(*arcs, order, "first")[2]
    return (offset, neighbors, weights), order


def as_index(values: Any, name: str) -> Tensor:
    """A 1-D int32 or int64 tensor of what the caller gave as vertex numbers."""
    tensor = as_tensor(values, name)
    if tensor.dim() != 1:
        raise ArgumentError(f"{name}: expected one dimension, got shape {list(tensor.shape)}; pass {name}.flatten()")
    if tensor.numel() == 0:
        return tensor.to(torch.int64)
    if tensor.dtype not in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8):
        raise ArgumentError(f"{name}: vertex numbers are integers, got {tensor.dtype}; convert them to torch.int64")
    return tensor if tensor.dtype == torch.int32 else tensor.to(torch.int64)


def as_weights(values: Any, count: int) -> Tensor | None:
    """A 1-D numeric tensor with one weight per edge, or None."""
    if values is None:
        return None
    tensor = as_tensor(values, "weights")
    if tensor.shape != (count,):
        raise ArgumentError(f"weights: expected one per edge, shape [{count}], got {list(tensor.shape)}")
    if tensor.is_complex() or tensor.dtype == torch.bool:
        raise ArgumentError(f"weights: expected an integer or floating dtype, got {tensor.dtype}")
    return tensor


def as_tensor(values: Any, name: str) -> Tensor:
    """A plain tensor of whatever holds numbers. Raises ArgumentError for what does not."""
    if not isinstance(values, Tensor):
        try:
            array = np.asarray(values)
            values = torch.from_numpy(array if array.flags.writeable and array.flags.c_contiguous else array.copy())
        except (TypeError, ValueError, OverflowError) as fault:
            raise ArgumentError(f"{name}: cannot make a tensor of {type(values).__name__}: {fault}") from fault
    else:
        values = memory.readable(values, name)
    if values.dtype in (torch.uint16, torch.uint32):  # torch computes little with these
        return values.to(torch.int64)
    if values.dtype == torch.uint64:
        signed = values.view(torch.int64)
        if len(large := (signed < 0).nonzero()):
            position = int(large[0, 0])
            value = int(signed[position]) + 2**64
            raise ArgumentError(f"{name}: {value} at position {position} does not fit int64; map it to a smaller value")
        return signed
    return values


def as_count(value: Any, name: str) -> int:
    """A number of something. Raises ArgumentError unless it is an integer that is not negative."""
    try:
        count = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}: expected an integer, got {value!r}") from None
    if count < 0:
        raise ArgumentError(f"{name}: must not be negative, got {count}")
    return count


def below(count: int) -> str:
    """Numbers from 0 on, of which there are `count`, for error messages."""
    return f"0..{count - 1}" if count else "(there is none)"


def check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    """Raise ArgumentError unless the value is one of the choices."""
    if value not in choices:
        raise ArgumentError(f"{name}: {value!r} is not one of {', '.join(map(repr, choices))}")


def count_vertices(src: Tensor, dst: Tensor) -> int:
    """One more than the largest vertex number. Raises ArgumentError where that number is plainly an arbitrary id."""
    largest = max((int(ends.max()) for ends in (src, dst) if len(ends)), default=-1)
    if largest >= 2**26 and largest > 64 * len(src):
        raise ArgumentError(
            f"src, dst: the number {largest} would make a graph of {largest + 1} vertices; ids='compact' relabels "
            "arbitrary ids, num_vertices= says that so many are meant"
        )
    return largest + 1
