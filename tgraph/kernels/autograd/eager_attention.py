"""Attention on plain tensors by the compiled kernels, without torch's dispatcher: see `kernels.autograd.eager`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.dispatch import is_available, is_watched
from tgraph.core.system.library import applied, is_plain
from tgraph.kernels import tuned
from tgraph.kernels.autograd import attention as operators
from tgraph.kernels.native.attention import attention as compiled
from tgraph.kernels.operators.attention import AttentionSpec, Inputs


def serves(arcs: Csr, inputs: Inputs, backend: str) -> bool:
    """True where `attend` takes these: plain tensors of the CPU that fit the arcs, float32 or float64, and no
    backend is chosen or recorded."""
    if backend not in ("auto", "native") or inputs.sent.dtype not in compiled.KERNELS or not inputs.sent.numel():
        return False
    if not is_plain(*inputs, arcs.neighbors) or is_watched():
        return False
    return is_available("native") and not (tuned.stored() and tuned.may_know(arcs.num_columns, arcs.num_arcs))


def attend(arcs: Csr, inputs: Inputs, spec: AttentionSpec) -> Tensor:
    """The result of each destination, [n_dst, heads, columns]."""
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in inputs):
        return _apply(*inputs, arcs, spec)
    return compiled.attend(inputs, arcs, spec)[0]


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> Tensor:
        *tensors, arcs, spec = arguments
        out, statistics = compiled.attend(Inputs(*tensors), arcs, spec)
        ctx.arcs, ctx.spec = arcs, spec
        ctx.save_for_backward(*tensors, out, statistics)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, out, statistics = ctx.saved_tensors
        inputs, arcs, spec, wanted = Inputs(*tensors), ctx.arcs, ctx.spec, list(ctx.needs_input_grad[:5])
        if torch.is_grad_enabled():
            return *operators.recorded_gradient(inputs, arcs, spec, grad, wanted), None, None
        given = (grad, out, statistics, inputs, arcs, spec, transpose_of(arcs, inputs, spec), wanted)
        if is_plain(grad):
            return *compiled.attend_backward(*given), None, None
        found = operators.attend_backward(*given, "auto")
        return *(part if w else None for part, w in zip(found, wanted, strict=True)), None, None


def transpose_of(arcs: Csr, inputs: Inputs, spec: AttentionSpec) -> Csr:
    """The transpose that a gradient needs: numbered for what belongs to single arcs."""
    return arcs.transpose(numbered=inputs.edge is not None or spec.seed is not None)


_apply = applied(_Attend)
