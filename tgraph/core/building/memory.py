"""Tensors whose memory can be read: torch itself reads beyond a storage that was freed or cut; a wrapper has none."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError

_PLAIN = (Tensor, torch.nn.Parameter)
_is_functorch_wrapped = torch._C._functorch.is_functorch_wrapped_tensor


def are_common(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether all tensors among the arguments of a call are contiguous numbers in the memory of the CPU: nothing else
    need be asked of them. The compiled kernels put their own here; without them nothing is known."""
    return False


def readable(tensor: Tensor, name: str) -> Tensor:
    """A plain strided tensor of the same values, the same object where it is one: a subclass that wraps one tensor, as
    `EdgeIndex` of PyTorch Geometric does, is unwrapped, another one read as the plain tensor that it is; a view that
    negates is resolved.

    Raises ArgumentError for tensors without memory to read (fake or meta), of other layouts (sparse, nested), quantised
    ones, and those whose storage has been freed or cut; tensors that a transform of torch.func wraps stay as they are.
    O(1).
    """
    if _is_common(tensor) or torch.compiler.is_compiling():
        return tensor
    if type(tensor) not in _PLAIN:
        if type(tensor).__module__.startswith(("tgraph.", "torchax.")):  # spread, not yet computed, or an array of JAX
            return tensor
        tensor = _unwrapped(tensor, name)
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized:
        kind = "a nested one" if tensor.is_nested else f"{tensor.layout} of {tensor.dtype}"
        raise ArgumentError(f"{name}: expected a strided tensor of numbers, got {kind}; convert it by to_dense, ...")
    if _is_functorch_wrapped(tensor):  # what transforms can trace is left to the portable backend
        return tensor
    if tensor.is_meta:
        raise ArgumentError(f"{name}: the tensor is on the device meta and holds no values to read; pass one that does")
    check_extent(tensor, name)
    return tensor.resolve_neg() if tensor.is_neg() else tensor


def check_data(tensor: Tensor, name: str) -> None:
    """Raise ArgumentError for data whose memory is not there to be read, as `readable` does, but for tensors that stand
    for values of another kind: traced, transformed, spread, or wrapping others."""
    if (
        _is_common(tensor)
        or torch.compiler.is_compiling()
        or isinstance(tensor, torch._subclasses.FakeTensor)
        or _is_functorch_wrapped(tensor)
    ):
        return
    with torch._C.DisableTorchFunctionSubclass():
        plain = type(tensor) in _PLAIN
        if plain or (type(tensor).__torch_dispatch__ is Tensor.__torch_dispatch__ and torch._C._has_storage(tensor)):
            readable(tensor if plain else tensor.as_subclass(Tensor), name)


def guard(namespace: dict[str, Any]) -> None:
    """Let the public functions of a module that take tensors be given `readable` ones alone."""
    for name, function in list(namespace.items()):
        if inspect.isfunction(function) and not name.startswith("_"):
            namespace[name] = guarded(function)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which is given `readable` tensors alone; itself where it takes none."""
    if hasattr(function, "__wrapped__") or not _takes_tensors(function):
        return function
    return _guarded(function)


def _takes_tensors(function: Callable[..., Any]) -> bool:
    kinds = (str(kind) for name, kind in function.__annotations__.items() if name != "return")
    return any("Tensor" in kind or "Any" in kind for kind in kinds)


@functools.cache
def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)]
    last = len(names) - 1

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if not torch.compiler.is_dynamo_compiling() and are_common(arguments, named):
            return function(*arguments, **named)
        given = [
            readable(value, names[min(place, last)]) if isinstance(value, Tensor) else value
            for place, value in enumerate(arguments)
        ]
        for name, value in named.items():
            if isinstance(value, Tensor):
                named[name] = readable(value, name)
        return function(*given, **named)

    return call


def _is_common(tensor: Tensor) -> bool:
    return not torch.compiler.is_dynamo_compiling() and are_common((tensor,), {})


def check_extent(tensor: Tensor, name: str) -> None:
    """Raise ArgumentError where the storage of a tensor ends before it does."""
    size, stored = tensor.numel(), tensor.untyped_storage().nbytes()
    if size and not tensor.is_contiguous():  # of a strided one the numbers up to its last
        size = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if size and (tensor.storage_offset() + size) * tensor.element_size() > stored:
        raise ArgumentError(
            f"{name}: its storage holds {stored} bytes, fewer than its shape {list(tensor.shape)} takes: it was "
            "resized or freed; pass a tensor that holds its values"
        )


def _unwrapped(tensor: Tensor, name: str) -> Tensor:
    """The tensor within a subclass, or itself as a plain one."""
    if isinstance(tensor, torch._subclasses.FakeTensor):
        raise ArgumentError(f"{name}: a fake tensor holds no values to read; pass one that does")
    with torch._C.DisableTorchFunctionSubclass():
        if hasattr(tensor, "__tensor_flatten__"):
            names, _ = tensor.__tensor_flatten__()
            inner = getattr(tensor, names[0]) if len(names) == 1 else None
            if isinstance(inner, Tensor) and inner.shape == tensor.shape and inner.dtype == tensor.dtype:
                return readable(inner, name)
        elif torch._C._has_storage(tensor) and (tensor.numel() == 0 or tensor.data_ptr()):
            return tensor.as_subclass(Tensor)
    raise ArgumentError(f"{name}: {type(tensor).__name__} has no memory of its own; pass the tensor that it wraps")
