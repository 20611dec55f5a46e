"""Torch operations with results and gradients in huge pages where large: layers gather rows of these results, and page
faults for 4 KiB pages take as long as the operation itself."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tgraph.core.system.library import in_functorch
from tgraph.core.system.pages import LARGE, fresh
from tgraph.errors import ArgumentError

DTYPES = (torch.float32, torch.float64)


def linear_map(x: Tensor, weight: Tensor, bias: Tensor | None = None, argument: str = "x") -> Tensor:
    """x W^T + b, as torch.nn.functional.linear: x [..., in], weight [out, in], bias [out].

    argument : the name of x. Raises ArgumentError for other columns, another dtype or another device than the weight's.
    """
    try:
        if torch.compiler.is_compiling() or x.dim() != 2 or x.shape[0] * max(weight.shape) * x.element_size() < LARGE:
            return F.linear(x, weight, bias)
        large = is_large(x, x.shape[0] * max(weight.shape), weight, bias)
        return _LinearMap.apply(x, weight, bias) if large else F.linear(x, weight, bias)
    except RuntimeError:
        check_fits(argument, x, weight)
        raise


def check_fits(argument: str, x: Tensor, weight: Tensor) -> None:
    """Raise ArgumentError for features with other columns, dtype or device than a weight [out, in]."""
    if not x.dim() or x.shape[-1] != weight.shape[-1]:
        raise ArgumentError(f"{argument}: expected [..., {weight.shape[-1]}], got {list(x.shape)}")
    if x.device != weight.device:
        raise ArgumentError(f"{argument}: on {x.device}, the parameters are on {weight.device}; use .to")
    if x.dtype != weight.dtype:
        raise ArgumentError(f"{argument}: {x.dtype}, parameters are {weight.dtype}; use {argument}.to({weight.dtype})")


def plus(x: Tensor, y: Tensor) -> Tensor:
    """x + y; the shape of y is that of x or of its last dimensions."""
    large = x.shape[x.dim() - y.dim() :] == y.shape and is_large(x, x.numel(), y)
    return _Plus.apply(x, y) if large else x + y


def is_large(x: Tensor, size: int, *others: Tensor | None) -> bool:
    """Whether a result or gradient of `size` elements is computed on the CPU and large enough for huge pages."""
    if torch.compiler.is_compiling() or size * x.element_size() < LARGE or x.dtype not in DTYPES:
        return False
    for tensor in (x, *others):
        if tensor is None:
            continue
        if type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
            return False
        if tensor.device.type != "cpu" or tensor.dtype != x.dtype:
            return False
    return not torch.is_autocast_enabled("cpu") and not in_functorch()


class _LinearMap(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        out = fresh((len(x), len(weight)), x.dtype)
        return torch.mm(x, weight.t(), out=out) if bias is None else torch.addmm(bias, x, weight.t(), out=out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        return (
            linear_map(grad, weight.t()) if to_x else None,
            grad.t() @ x if to_weight else None,
            grad.sum(0) if to_bias else None,
        )


class _Plus(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        ctx.shape = y.shape
        return torch.add(x, y, out=fresh(x.shape, x.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        to_x, to_y = ctx.needs_input_grad
        return grad if to_x else None, grad.sum_to_size(ctx.shape) if to_y else None
