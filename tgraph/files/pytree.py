"""Trees of plain values and tensors, encoded as JSON and named tensors, for checkpoints.

Plain values are None, booleans, numbers, text, tensors, numeric numpy arrays, and lists, tuples and dicts of these. In
JSON a tensor is {"tensor": its name}; other values without a JSON form are objects with a single key as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.errors import ArgumentError

_SIMPLE = (type(None), bool, int, float, str)
_KINDS = "biuf"  # of numpy dtypes


def is_plain(value: Any) -> bool:
    """Whether the value can be encoded."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.kind in _KINDS
    return isinstance(value, (*_SIMPLE, Tensor))


def encode(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The JSON form of a plain value; its tensors are added to `tensors`, a repeated one once.

    Raises ArgumentError for a value that is not plain, and for a tensor that requires a gradient.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and torch.is_grad_enabled():
            raise ArgumentError("checkpoint: stores numbers, not their gradients; run under torch.no_grad()")
        return {"tensor": _name(value, tensors), "cpu": value.device.type == "cpu"}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return {"array": _name(torch.from_numpy(np.ascontiguousarray(value)), tensors)}
    if isinstance(value, dict):
        return {"dict": [[encode(key, tensors), encode(item, tensors)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [encode(item, tensors) for item in value]}
    if not isinstance(value, _SIMPLE):
        raise ArgumentError(f"checkpoint: stores numbers, text and tensors, not {type(value).__name__}")
    return value


def _name(tensor: Tensor, tensors: dict[str, Tensor]) -> str:
    for name, other in tensors.items():
        if other is tensor:
            return name
    name = str(len(tensors))
    tensors[name] = tensor
    return name


def decode(form: Any, tensors: dict[str, Tensor], device: torch.device) -> Any:
    """The value of a JSON form. Tensors not from the CPU are moved to `device`; repeated ones are shared."""
    if not isinstance(form, dict):
        return form
    kind, content = next(iter(form.items()))
    if kind == "tensor":
        if not form["cpu"] and tensors[content].device != device:
            tensors[content] = tensors[content].to(device)
        return tensors[content]
    if kind == "array":
        return tensors[content].numpy()
    if kind == "dict":
        return {decode(key, tensors, device): decode(item, tensors, device) for key, item in content}
    items = [decode(item, tensors, device) for item in content]
    return tuple(items) if kind == "tuple" else items
