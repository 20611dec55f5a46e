"""Attention over the rows of a graph in a layout: these are decoded part by part, and again in the backward pass, of
which the result and the statistics of the softmax are kept, as over the arcs of a `Csr`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.library import applied
from tgraph.kernels.autograd import attention as operators
from tgraph.kernels.layout.in_parts import Part, RowsInParts
from tgraph.kernels.operators import attention as portable
from tgraph.kernels.operators.attention import AttentionSpec, Inputs


def attend(inputs: Inputs, rows: RowsInParts, spec: AttentionSpec, backend: str) -> Tensor:
    """The result of each row, [n, heads, columns]; all inputs are float32 or float64, without features of edges."""
    return _apply(*inputs, rows, spec, backend)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> Tensor:
        *tensors, rows, spec, backend = arguments
        inputs = Inputs(*tensors)
        out = inputs.sent.new_empty((rows.num_rows, *inputs.sent.shape[1:]))
        statistics = inputs.sent.new_empty((*out.shape[:2], 2))

        def attended(part: Part) -> None:
            out[part.rows], statistics[part.rows] = _attended(_of(inputs, part), part, spec, backend)

        rows.visit(attended)
        ctx.rows, ctx.spec, ctx.backend = rows, spec, backend
        ctx.save_for_backward(*tensors, out, statistics)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, out, statistics = ctx.saved_tensors
        inputs, wanted = Inputs(*tensors), list(ctx.needs_input_grad[:5])
        if torch.is_grad_enabled():
            return *operators.recorded_gradient(inputs, ctx.rows.whole(), ctx.spec, grad, wanted), None, None, None
        totals = [torch.zeros_like(x) if x is not None and w else None for x, w in zip(inputs, wanted, strict=True)]

        def add(part: Part) -> None:
            given = grad[part.rows].contiguous(), out[part.rows], statistics[part.rows], _of(inputs, part)
            found = _gradients(given, part, ctx.spec, wanted, ctx.backend)
            for name, total, each in zip(Inputs._fields, totals, found, strict=True):
                if total is not None and each is not None:
                    (total[part.rows] if name == "target" else total).add_(each)

        ctx.rows.visit(add)
        return *totals, None, None, None


_apply = applied(_Attend)


def _of(inputs: Inputs, part: Part) -> Inputs:
    return inputs._replace(target=inputs.target[part.rows])


def _attended(inputs: Inputs, part: Part, spec: AttentionSpec, backend: str) -> tuple[Tensor, Tensor]:
    if spec.seed is not None:  # dropout goes by the numbers of the arcs among all, which portable code alone is told
        return portable.attend_part(inputs, part.arcs, spec, part.first_arc)
    return operators.attend_directly(inputs, part.arcs, spec, None, backend)


def _gradients(
    given: tuple[Tensor, Tensor, Tensor, Inputs], part: Part, spec: AttentionSpec, wanted: list[bool], backend: str
) -> Any:
    if spec.seed is not None:
        return portable.part_backward(*given, part.arcs, spec, wanted, part.first_arc)
    return operators.attend_backward(*given, part.arcs, spec, part.arcs.transpose(), wanted, backend)
