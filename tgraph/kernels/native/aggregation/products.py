"""The gradient of a product by segments: see `tgraph.kernels.operators.aggregation.segments`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, unavailable
from tgraph.kernels.operators.aggregation import segments as declared

DTYPES = (torch.float32, torch.float64)


def refuses(grad: Tensor, messages: Tensor, offset: Tensor) -> str | None:
    """Why a call is not supported, None if it is."""
    if not messages.is_cpu or messages.dtype not in DTYPES or not messages.numel():
        return "it computes float32 and float64 on the CPU, of some messages"
    return unavailable()


@implements(declared.multiply_others, refuses)
def multiply_others(grad: Tensor, messages: Tensor, offset: Tensor) -> Tensor:
    """grad[s] times the product of the other messages of segment s, for each message, [e, ...]."""
    result = torch.empty_like(messages, memory_format=torch.contiguous_format)
    flat = [tensor.contiguous().view(-1) for tensor in (offset, messages, grad)]
    compiled().product_gradient(*flat, messages[0].numel(), result.view(-1))
    return result
