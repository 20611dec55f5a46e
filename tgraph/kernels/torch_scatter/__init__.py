"""The scatter backend: messages as the portable backend makes them, reduced by torch-scatter."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS
from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.messages import sent_dtype
from tgraph.kernels.operators.aggregation import aggregation as declared
from tgraph.kernels.reductions import Reduction
from tgraph.kernels.torch_scatter import reducing
from tgraph.kernels.torch_scatter.library import missing

name = "scatter"

DTYPES = (
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
)


def refuses(call: Call) -> str | None:
    """Why a call is not supported, None if it is."""
    if why := missing(call.data.device) or not_plain(call):
        return why
    reduction, dtype = cast(Reduction, call.reduction), _message_dtype(call)
    if dtype not in DTYPES:
        return f"torch-scatter has no kernel for messages of {dtype}"
    return _refuses_on_cuda(call, reduction, dtype) if call.data.is_cuda else None


def _refuses_on_cuda(call: Call, reduction: Reduction, dtype: torch.dtype) -> str | None:
    sub = cast(Subgraph, call.sub)
    scatters = sub.mode == "push" or reduction.name == "prod"
    if scatters and dtype.is_floating_point and reduction.name in ("sum", "mean", "prod"):
        return "torch-scatter adds and multiplies in an order that changes from run to run"
    columns = call.data.shape[1:].numel()
    if max(sub.num_arcs, sub.graph.num_vertices) * columns >= 2**31:
        return "torch-scatter counts with 32 bits, and there are more numbers to reduce"
    return None


def yields(call: Call) -> str | None:
    """Why "auto" leaves a call that is served to a backend after this one, None where it does not."""
    return "it is rarely the fastest, and taken where asked for by name or chosen by tgraph.tune"


@BACKENDS[name].implements(declared.aggregate, refuses)
def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`."""
    return declared.aggregated(reducing.reduce, sub, data, reduction, edge, weights, dtype)


BACKENDS[name].yields = yields


def _message_dtype(call: Call) -> torch.dtype:
    dtype = sent_dtype(call.dtype or call.data.dtype, cast(Reduction, call.reduction), call.edge)
    per_arc = call.edge != "copy" and isinstance(call.weights, Tensor) and call.weights.dim() > 0
    dtype = torch.promote_types(dtype, cast(Tensor, call.weights).dtype) if per_arc else dtype
    return torch.uint8 if cast(Reduction, call.reduction).logical else dtype
