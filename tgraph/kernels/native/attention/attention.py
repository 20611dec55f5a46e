"""Attention by the kernels in `attention_passes.hpp`: scores, softmax and sum in one pass over the arcs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.system.pages import fresh, settle
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.support import compiled, implements, refuses_call
from tgraph.kernels.operators import attention as declared
from tgraph.kernels.operators.attention import AttentionSpec, Inputs, gain, threshold

KERNELS = {torch.float32: "AttentionFloat32", torch.float64: "AttentionFloat64"}


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable twin, None where it is not."""
    if call.data.dtype not in KERNELS:
        return f"it computes float32 and float64, the data is {call.data.dtype}"
    if not call.data.numel() and 0 in call.data.shape[1:]:
        return "the data has no columns"
    return not_plain(call)


@implements(declared.attend, refuses_call(refuses))
def attend(inputs: Inputs, arcs: Csr, spec: AttentionSpec) -> tuple[Tensor, Tensor]:
    """As the portable twin. The same bits for any number of threads."""
    shape = (arcs.num_rows, *inputs.sent.shape[1:])
    out, statistics = fresh(shape, inputs.sent.dtype), fresh((*shape[:2], 2), inputs.sent.dtype)
    _arrays(inputs, arcs, spec).attend(flat(arcs.offset), flat(arcs.neighbors), flat(out), flat(statistics))
    return out, statistics


@implements(declared.attend_backward, refuses_call(refuses))
def attend_backward(
    grad: Tensor,
    out: Tensor,
    statistics: Tensor,
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    transpose: Csr,
    wanted: list[bool],
) -> list[Tensor | None]:
    """As the portable twin: a pass over the arcs of each target, and one over those of each source."""
    found = [fresh(x.shape, x.dtype) if x is not None and w else None for x, w in zip(inputs, wanted, strict=True)]
    to_source, to_target, to_value, to_edge, to_vector = found
    arrays, delta = _arrays(inputs, arcs, spec), grad.new_empty(grad.shape[:2])
    arrays.delta(flat(grad), flat(out), flat(delta))
    settle(grad, arcs.num_arcs)
    given = (flat(grad), flat(delta), flat(statistics))
    if not (to_target is to_edge is to_vector is None):
        written = (flat(to_target), flat(to_edge), flat(to_vector))
        arrays.to_target(flat(arcs.offset), flat(arcs.neighbors), *given, *written)
    if not (to_source is to_value is None):
        by_source = flat(transpose.offset), flat(transpose.neighbors), flat(transpose.permutation)
        arrays.to_source(*by_source, *given, flat(to_source), flat(to_value))
    return found


@implements(declared.attention_weights, refuses_call(refuses))
def attention_weights(inputs: Inputs, arcs: Csr, spec: AttentionSpec, statistics: Tensor | None = None) -> Tensor:
    """As the portable twin, but by the `statistics` of `attend`, and without a gradient."""
    assert statistics is not None
    out = statistics.new_empty((arcs.num_arcs, statistics.shape[1]))
    _arrays(inputs, arcs, spec).weights(flat(arcs.offset), flat(arcs.neighbors), flat(statistics), flat(out))
    return out


def _arrays(inputs: Inputs, arcs: Csr, spec: AttentionSpec) -> Any:
    """The inputs of all passes of a call, as the kernels take them."""
    heads, columns = inputs.sent.shape[1:]
    for tensor in (inputs.source, inputs.target, inputs.sent):
        settle(tensor, arcs.num_arcs)
    drops = spec.seed is not None and spec.dropout > 0
    return getattr(compiled(), KERNELS[inputs.sent.dtype])(
        spec.score,
        heads,
        columns,
        spec.factor,
        threshold(spec.dropout),
        gain(spec.dropout),
        drops,
        int(spec.seed) % 2**64 if drops else 0,  # type: ignore[arg-type]
        flat(arcs.permutation),
        *[flat(tensor) for tensor in inputs],
        inputs.source.shape[0],
        len(inputs.target),
    )
