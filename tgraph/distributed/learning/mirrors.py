"""The values of mirrors as a differentiable function of the values of their owners."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.distributed.parts.part import Part


def with_mirrors(part: Part, data: Tensor) -> Tensor:
    """The `data` [k, ...] of own vertices followed by that of the mirrors, [k + h, ...].

    The gradient of a mirror is sent to its owner, which adds the gradients of all ranks in their order: the same bits
    each time. Differentiable any number of times. All ranks must call it, and its backward.
    """
    return _WithMirrors.apply(data, part) if data.requires_grad else _fetched(part, data)


def _fetched(part: Part, data: Tensor) -> Tensor:
    sending = part.fetch(data.contiguous())
    memory = cast(Tensor, sending.memory)
    memory[: part.num_own] = data
    sending.wait()
    return memory


class _WithMirrors(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, part: Part) -> Tensor:
        ctx.part = part
        return _fetched(part, data)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _Added.apply(gradients[0], ctx.part), None


class _Added(torch.autograd.Function):
    """The adjoint of `_WithMirrors`: the values of mirrors are added to the values of their owners."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, part: Part) -> Tensor:
        ctx.part = part
        sending = part.give_back(values[part.num_own :])
        given = sending.wait()
        own = values[: part.num_own].clone()
        return own.add_(part.add_copies(given.reshape(len(given), -1)).view_as(own)) if given.numel() else own

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _WithMirrors.apply(gradients[0], ctx.part), None
