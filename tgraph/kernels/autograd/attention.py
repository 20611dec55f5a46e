"""The registered operators of attention: the result, its gradients, and the weights of the arcs, on any backend.

They know tensors only: `Inputs` and the arcs of `core.csr.Csr` one by one, the transposed arcs with them where a
gradient is recorded. The backward pass reads the inputs, the result and the logsumexp of the scores, and nothing of
the size of the arcs but the arcs themselves and the features of edges. Of 16-bit numbers the logsumexp and the weights
are in float32.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.library import directly, register
from tgraph.kernels import BACKENDS, choose, cuda, refusal
from tgraph.kernels.call import Call
from tgraph.kernels.portable.attention import Inputs, Way, attend_recorded

NARROW = (torch.float16, torch.bfloat16)

_INPUTS = "Tensor source, Tensor target, Tensor? value, Tensor? edge, Tensor? vector"
_WAY = "Tensor offset, Tensor neighbors, Tensor? position, str score, float factor, float dropout, Tensor? seed"
_BACK = "Tensor? back_offset, Tensor? back_neighbors, Tensor? back_number"


def widened(inputs: Inputs, backend: str, operation: str = "attend") -> Inputs:
    """The inputs as the backend is to be given them: 16-bit numbers in float32, unless it computes in that itself."""
    if inputs.sent.dtype not in NARROW:
        return inputs
    asked = backend in ("auto", cuda.name) and not torch.compiler.is_compiling()
    if asked and refusal(BACKENDS[cuda.name], _call(operation, inputs)) is None:
        return inputs
    return Inputs(*(None if x is None else x.float() for x in inputs))  # type: ignore[arg-type]


def _call(operation: str, inputs: Inputs) -> Call:
    return Call(operation, inputs.sent, others=tuple(tensor for tensor in inputs if tensor is not None))


def _computed_in(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in NARROW else dtype


def _attend(*arguments: Any) -> tuple[Tensor, Tensor]:
    inputs, way, backend = Inputs(*arguments[:5]), Way(*arguments[5:12]), arguments[15]
    wide = widened(inputs, backend)
    out, logsumexp = choose(backend, _call("attend", wide)).run(wide, way)
    return out.to(inputs.sent.dtype), logsumexp


def _attend_fake(*arguments: Any) -> tuple[Tensor, Tensor]:
    inputs, offset = Inputs(*arguments[:5]), arguments[5]
    shape = (offset.shape[0] - 1, *inputs.sent.shape[1:])
    return inputs.sent.new_empty(shape), inputs.sent.new_empty(shape[:2], dtype=_computed_in(inputs.sent.dtype))


def _save(ctx: Any, arguments: tuple[Any, ...], result: tuple[Tensor, Tensor]) -> None:
    *_, ctx.score, ctx.factor, ctx.dropout, seed, _, _, _, ctx.backend = arguments
    ctx.mark_non_differentiable(result[1])
    ctx.save_for_backward(*arguments[:8], seed, *arguments[12:15], *result)


def _attend_gradient(ctx: Any, grad: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    *tensors, back_offset, back_neighbors, back_number, out, logsumexp = ctx.saved_tensors
    inputs, held, seed = Inputs(*tensors[:5]), tensors[5:8], tensors[8]
    way = Way(held[0], held[1], held[2], ctx.score, ctx.factor, ctx.dropout, seed)
    wanted = [bool(w) for w in ctx.needs_input_grad[:5]]
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return *recorded_gradient(inputs, way, grad, wanted), *_NONE
    back = (back_offset, back_neighbors, back_number)
    found = _attend_backward(grad.contiguous(), out, logsumexp, *inputs, *way, *back, wanted, ctx.backend)
    return *(part if w else None for part, w in zip(found, wanted, strict=True)), *_NONE


_NONE = (None,) * 11  # the gradients of arguments that have none


def recorded_gradient(inputs: Inputs, way: Way, grad: Tensor, wanted: list[bool]) -> tuple[Tensor | None, ...]:
    """The gradients by operators that torch differentiates again: all arcs at once, in memory of their size."""
    exact = Inputs(*(None if x is None else x.to(_computed_in(x.dtype)) for x in inputs))  # type: ignore[arg-type]
    out = attend_recorded(exact, way).to(grad.dtype)
    asked = [x for x, w in zip(inputs, wanted, strict=True) if w and x is not None]
    found = iter(torch.autograd.grad(out, asked, grad, create_graph=True))
    return tuple(next(found) if w else None for w in wanted)


def _backward(*arguments: Any) -> tuple[Tensor, ...]:
    grad, out, logsumexp = arguments[:3]
    inputs, way, back = Inputs(*arguments[3:8]), Way(*arguments[8:15]), arguments[15:18]
    wanted, backend = arguments[18:]
    wide = widened(inputs, backend, "attend_backward")
    run, dtype = choose(backend, _call("attend_backward", wide)).run, wide.sent.dtype
    found = run(grad.to(dtype), out.to(dtype), logsumexp, wide, way, back, wanted)
    return tuple(grad.new_empty(0) if part is None else part.to(grad.dtype) for part in found)


def _backward_fake(*arguments: Any) -> tuple[Tensor, ...]:
    grad, inputs, wanted = arguments[0], Inputs(*arguments[3:8]), arguments[18]
    return tuple(
        grad.new_empty(0) if x is None or not w else x.new_empty(x.shape) for x, w in zip(inputs, wanted, strict=True)
    )


def _weights(*arguments: Any) -> Tensor:
    logsumexp, inputs, way, backend = arguments[0], Inputs(*arguments[1:6]), Way(*arguments[6:13]), arguments[13]
    inputs = widened(inputs, backend, "attention_weights")
    return choose(backend, _call("attention_weights", inputs)).run(inputs, way, logsumexp)


def _weights_fake(logsumexp: Tensor, *arguments: Any) -> Tensor:
    return logsumexp.new_empty((arguments[6].shape[0], logsumexp.shape[1]))


attend = register(
    f"attend({_INPUTS}, {_WAY}, {_BACK}, str backend) -> (Tensor, Tensor)",
    _attend,
    _attend_fake,
    _save,
    _attend_gradient,
)
attend_backward = register(
    f"attend_backward(Tensor grad, Tensor out, Tensor logsumexp, {_INPUTS}, {_WAY}, {_BACK}, bool[] wanted, "
    "str backend) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    _backward,
    _backward_fake,
)
attention_weights = register(
    f"attention_weights(Tensor logsumexp, {_INPUTS}, {_WAY}, str backend) -> Tensor", _weights, _weights_fake
)
attend_at_once, _attend_backward = directly(attend), directly(attend_backward)
