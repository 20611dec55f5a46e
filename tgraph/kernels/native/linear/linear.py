"""A step of a linear iteration by the kernel in `power.cpp`: one pass over the arcs, in memory that is used again."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.aggregation.grouping import gathered
from tgraph.kernels.native.base.pages import fresh, settle
from tgraph.kernels.portable.linear import Coefficients, Stepped

_WEIGHTS = (torch.float32, torch.float64, torch.int32, torch.int64)


def refuses(call: Call) -> str | None:
    """Why a call is not served: its gradient, or dtypes that the kernel was not compiled for."""
    if call.needs_gradient:
        return "it computes no gradients"
    if call.data.dtype not in (torch.float32, torch.float64):
        return f"it computes float32 and float64, the values are {call.data.dtype}"
    if isinstance(call.weights, Tensor) and call.weights.dtype not in _WEIGHTS:
        return f"it reads weights of float32, float64, int32 and int64, these are {call.weights.dtype}"
    if call.blocks > 1 and call.sub is not None and call.sub.neighbors.dtype != torch.int32:
        return "blocks that hear each other are compiled for vertices that int32 can name"
    for tensor in call.others:
        if tensor.dim() and tensor.dtype != call.data.dtype:
            return f"the scale, bias and measure must have the dtype of the values, {call.data.dtype}"
    return None


def affine_step(
    sub: Subgraph,
    coefficients: Coefficients,
    heard: Tensor,
    before: Tensor,
    weights: Tensor | None,
    alpha: Tensor | float,
    beta: Tensor | float,
    rescale: Tensor | float = 1.0,
    spare: tuple[Tensor | None, Tensor | None] = (None, None),
    wanted: Collection[str] = ("total", "unsent"),
) -> Stepped:
    """As the portable twin, but for the sum of the values in float64, whose order differs; in a step of several blocks
    rows of a stripe hear each other as well (`gauss_seidel.cpp`).

    Writes the new values and what they send into the spare tensors; a step of several blocks overwrites `heard`. The
    same bits for any number of threads.
    """
    scale, bias, in_blocks = coefficients.scale, coefficients.bias, coefficients.blocks > 1
    values = fresh(before.shape, before.dtype) if spare[0] is None else spare[0]
    sent = None
    if in_blocks or scale is not None:
        sent = fresh(values.shape, values.dtype) if spare[1] is None else spare[1]
    neighbors, source = sub.neighbors, flat(heard)
    if not in_blocks:
        neighbors, source = gathered(sub.graph.transpose_detached() if sub.mirrored else sub.graph, source)
    elif weights is not None and weights.dtype == torch.int64:
        weights = weights.double()  # products are added in float64
    settle(source, len(neighbors))
    arguments = (
        flat(sub.offset),
        flat(neighbors),
        flat(weights),
        source,
        flat(before),
        flat(scale),
        flat(bias) if isinstance(bias, Tensor) else None,
        flat(coefficients.measure),
        float(alpha),
        float(beta),
        0.0 if isinstance(bias, Tensor) else float(beta) * bias,
    )
    wants, kernels = ("total" in wanted, "unsent" in wanted), cast(Any, native.load())
    if in_blocks:
        found = kernels.gauss_seidel_step(*arguments, float(rescale), *wants, values, sent, coefficients.blocks)
    else:
        found = kernels.affine_step(*arguments, *wants, values, sent)
    change, total, unsent = found
    return told(values, sent, change, total, unsent, wanted)


def told(
    values: Tensor, sent: Tensor | None, change: float, total: float, unsent: float, wanted: Collection[str]
) -> Stepped:
    """What a step gives, of what a kernel has written and found: the values, what they send where that is something
    else, and the numbers that are wanted."""
    written = [tensor for tensor in (values, sent) if tensor is not None and not tensor.is_inference()]
    torch.autograd.graph.increment_version(written)  # who saved them for a backward pass shall be told
    return Stepped(
        values,
        values if sent is None else sent,
        change,
        total if "total" in wanted else None,
        unsent if "unsent" in wanted else None,
    )
