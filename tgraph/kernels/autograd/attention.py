"""The registered operators of attention: the result, its gradients, and the weights of the arcs, on any backend.

`transpose` is `arcs.transpose()`, numbered for features of edges and dropout; None where no gradient is recorded. The
backward pass reads the inputs, the result and the statistics of the softmax (`portable.attention.weights`), and nothing
of the size of the arcs but the arcs themselves and the features of edges. Of 16-bit numbers the statistics and the
weights are in float32.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.kernels import BACKENDS, choose, cuda, refusal
from tgraph.kernels.autograd.structured import Structure, StructuredOperator, pack_csr, register, unpack_csr
from tgraph.kernels.call import Call
from tgraph.kernels.operators.attention import AttentionSpec, Inputs, attend_recorded

NARROW = (torch.float16, torch.bfloat16)

_STRUCTURES = {
    "Inputs": Structure(
        {"source": "Tensor", "target": "Tensor", "value": "Tensor?", "edge": "Tensor?", "vector": "Tensor?"},
        tuple,
        Inputs,
    ),
    "AttentionSpec": Structure(
        {"score": "str", "factor": "float", "dropout": "float", "seed": "Tensor?"}, tuple, AttentionSpec
    ),
}


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


def _attend(
    inputs: Inputs, arcs: Csr, spec: AttentionSpec, transpose: Csr | None, backend: str
) -> tuple[Tensor, Tensor]:
    wide = widened(inputs, backend)
    out, statistics = choose(backend, _call("attend", wide)).run(wide, arcs, spec)
    return out.to(inputs.sent.dtype), statistics


def _attend_fake(
    inputs: Inputs, arcs: Csr, spec: AttentionSpec, transpose: Csr | None, backend: str
) -> tuple[Tensor, Tensor]:
    shape = (arcs.num_rows, *inputs.sent.shape[1:])
    return inputs.sent.new_empty(shape), inputs.sent.new_empty((*shape[:2], 2), dtype=_computed_in(inputs.sent.dtype))


def _save(ctx: Any, arguments: tuple[Any, ...], result: tuple[Tensor, Tensor]) -> None:
    inputs, arcs, spec, transpose, ctx.backend = arguments
    ctx.spec = spec._replace(seed=None)
    ctx.mark_non_differentiable(result[1])
    ctx.save_for_backward(*result, *inputs, *pack_csr(arcs), *pack_csr(transpose), spec.seed)


def _attend_gradient(ctx: Any, grad: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    out, statistics, *tensors, seed = ctx.saved_tensors
    inputs, spec = Inputs(*tensors[:5]), ctx.spec._replace(seed=seed)
    arcs, transpose = cast(Csr, unpack_csr(*tensors[5:8])), unpack_csr(*tensors[8:])
    wanted = [bool(w) for w in ctx.needs_input_grad[:5]]
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return recorded_gradient(inputs, arcs, spec, grad, wanted)
    found = _attend_backward(grad.contiguous(), out, statistics, inputs, arcs, spec, transpose, wanted, ctx.backend)
    return tuple(part if w else None for part, w in zip(found, wanted, strict=True))


def recorded_gradient(
    inputs: Inputs, arcs: Csr, spec: AttentionSpec, grad: Tensor, wanted: list[bool]
) -> tuple[Tensor | None, ...]:
    """The gradients by operators that torch differentiates again: all arcs at once, in memory of their size."""
    exact = Inputs(*(None if x is None else x.to(_computed_in(x.dtype)) for x in inputs))  # type: ignore[arg-type]
    out = attend_recorded(exact, arcs, spec).to(grad.dtype)
    asked = [x for x, w in zip(inputs, wanted, strict=True) if w and x is not None]
    found = iter(torch.autograd.grad(out, asked, grad, create_graph=True))
    return tuple(next(found) if w else None for w in wanted)


def _backward(grad: Tensor, out: Tensor, statistics: Tensor, inputs: Inputs, *others: Any) -> tuple[Tensor, ...]:
    *given, backend = others
    wide = widened(inputs, backend, "attend_backward")
    run, dtype = choose(backend, _call("attend_backward", wide)).run, wide.sent.dtype
    found = run(grad.to(dtype), out.to(dtype), statistics, wide, *given)
    return tuple(grad.new_empty(0) if part is None else part.to(grad.dtype) for part in found)


def _backward_fake(grad: Tensor, out: Tensor, statistics: Tensor, inputs: Inputs, *others: Any) -> tuple[Tensor, ...]:
    wanted = others[-2]
    return tuple(
        grad.new_empty(0) if x is None or not w else x.new_empty(x.shape) for x, w in zip(inputs, wanted, strict=True)
    )


def _weights(statistics: Tensor, inputs: Inputs, arcs: Csr, spec: AttentionSpec, backend: str) -> Tensor:
    inputs = widened(inputs, backend, "attention_weights")
    return choose(backend, _call("attention_weights", inputs)).run(inputs, arcs, spec, statistics)


def _weights_fake(statistics: Tensor, inputs: Inputs, arcs: Csr, spec: AttentionSpec, backend: str) -> Tensor:
    return statistics.new_empty((arcs.num_arcs, statistics.shape[1]))


attend: StructuredOperator = register(
    "attend(Inputs inputs, Csr arcs, AttentionSpec spec, Csr? transpose, str backend) -> (Tensor, Tensor)",
    _attend,
    _attend_fake,
    _save,
    _attend_gradient,
    structures=_STRUCTURES,
)
attend_backward: StructuredOperator = register(
    "attend_backward(Tensor grad, Tensor out, Tensor statistics, Inputs inputs, Csr arcs, AttentionSpec spec, "
    "Csr transpose, bool[] wanted, str backend) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    _backward,
    _backward_fake,
    structures=_STRUCTURES,
)
attention_weights: StructuredOperator = register(
    "attention_weights(Tensor statistics, Inputs inputs, Csr arcs, AttentionSpec spec, str backend) -> Tensor",
    _weights,
    _weights_fake,
    structures=_STRUCTURES,
)
attend_directly, _attend_backward = attend.directly(), attend_backward.directly()
