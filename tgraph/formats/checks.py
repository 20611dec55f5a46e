"""Validation of stored tensors, which may come from a damaged file. Kernels index memory with these tensors without
bounds checks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import inputs, validate
from tgraph.errors import ArgumentError

INDICES, BYTES = (torch.int32, torch.int64), (torch.uint8,)


def check_names(
    layout: str, tensors: dict[str, Tensor], needed: tuple[str, ...], possible: tuple[str, ...]
) -> dict[str, Tensor]:
    """The tensors, contiguous. Raises ArgumentError unless all of `needed` are there, the others are among `possible`,
    and all are one-dimensional and on one device, with integer dtypes except "weights", and "bits" of bytes."""
    for name in needed:
        if name not in tensors:
            raise ArgumentError(f"tensors: {name!r} of the layout {layout!r} is missing; the file may be damaged")
    for name, tensor in tensors.items():
        if name not in needed + possible:
            raise ArgumentError(f"tensors: {name!r} belongs to no layout {layout!r}")
        if tensor.dim() != 1:
            raise ArgumentError(f"{name}: expected one dimension, got shape {list(tensor.shape)}")
        if name != "weights" and tensor.dtype not in (BYTES if name == "bits" else INDICES):
            expected = "uint8" if name == "bits" else "int32 or int64"
            raise ArgumentError(f"{name}: expected {expected}, got {tensor.dtype}")
    arcs = tensors.get("children", tensors.get("neighbors"))
    if "weights" in tensors and arcs is not None:
        inputs.as_weights(tensors["weights"], len(arcs))
    found = {str(tensor.device) for tensor in tensors.values()}
    if len(found) > 1:
        raise ArgumentError(f"tensors: of the layout {layout!r}, on different devices {sorted(found)}; use .to()")
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def check_rows(offset: Tensor, num_rows: int, num_entries: int) -> None:
    """Raise ArgumentError unless `offset` has num_rows + 1 entries that ascend from 0 to num_entries."""
    if len(offset) != num_rows + 1:
        raise ArgumentError(f"offset: expected [{num_rows + 1}], one more than there are rows, got [{len(offset)}]")
    validate.check_offset(offset)
    if int(offset[0]) or int(offset[-1]) != num_entries:
        raise ArgumentError(
            f"offset: runs from {int(offset[0])} to {int(offset[-1])}, expected from 0 to the number of neighbors, "
            f"{num_entries}"
        )


def count_option(options: dict[str, Any], name: str, least: int = 0) -> int:
    """The option `name` as a count. Raises ArgumentError where it is missing or below `least`."""
    if name not in options:
        raise ArgumentError(f"options: {name!r} is missing; the file may be damaged")
    count = inputs.as_count(options[name], name)
    if count < least:
        raise ArgumentError(f"{name}: must be at least {least}, got {count}")
    return count
