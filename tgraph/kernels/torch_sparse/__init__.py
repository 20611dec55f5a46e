"""The sparse backend: a sum over all arcs as torch's product of a sparse matrix and the data, which MKL computes on the
CPU and cuSPARSE on a GPU. What makes the matrix, and its transpose for the gradients, is kept on the Graph."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS
from tgraph.core.subgraph import Received, Subgraph, Weights
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.messages import column, sent_dtype
from tgraph.kernels.operators.aggregation import adjoints, aggregation
from tgraph.kernels.reductions import Reduction
from tgraph.kernels.torch_sparse.matrix import Matrix, multiply, sampled

name = "sparse"

DTYPES = (torch.float32, torch.float64)


def refuses(call: Call) -> str | None:
    """Why a call is not supported, None if it is."""
    data = call.data
    if data.device.type == "cpu" and not torch.backends.mkl.is_available():
        return "this torch is built without MKL"
    if data.device.type not in ("cpu", "cuda"):
        return f"it computes on the CPU and on CUDA devices, the data is on {data.device}"
    if why := not_plain(call):
        return why
    if call.operation == "products":
        return None if data.dtype in DTYPES else f"it multiplies float32 and float64, not {data.dtype}"
    reduction = cast(Reduction, call.reduction)
    if reduction.name not in ("sum", "mean"):
        return f"a product of matrices is no {reduction.name!r}"
    if call.edge not in ("copy", "mul"):
        return f"a product of matrices has no edge={call.edge!r}"
    dtype = _dtype(data, reduction, call.edge, call.weights, call.dtype)
    if dtype not in DTYPES:
        return f"it multiplies float32 and float64, not {dtype}"
    if not data.numel():
        return "the data has no columns or no rows"
    if isinstance(call.weights, Tensor) and call.weights.numel() != len(call.weights):
        return "it has one weight for each arc, not one for each column"
    return _refuses_arcs(call.sub)


def _refuses_arcs(sub: Subgraph | None) -> str | None:
    if sub is None or not sub.selection.is_whole:
        return "it multiplies by the whole matrix, and only some arcs are selected"
    if sub.graph.num_arcs > torch.iinfo(sub.selection.stored_neighbors.dtype).max:
        return "its offsets have the dtype of the neighbours, which does not hold the number of arcs"
    if sub.sends_partly:
        return "it multiplies by the whole matrix, and only some vertices are active"
    return None


def yields(call: Call) -> str | None:
    """Why "auto" leaves a call that is served to a backend after this one, None where it does not."""
    return None if is_ordered(call) else "cuSPARSE adds in an order that changes from run to run"


def is_ordered(call: Call) -> bool:
    """True where a sum is the same on every run."""
    return not call.data.is_cuda


@BACKENDS[name].implements(aggregation.aggregate, refuses)
def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`, for sums and means over all arcs."""
    kind = _dtype(data, reduction, edge, weights, dtype)
    matrix = Matrix(sub.graph, sub.mirrored)
    per_arc = None
    if edge == "mul" and isinstance(weights, Tensor) and weights.dim():
        per_arc = weights.flatten().to(kind)
    elif edge == "mul":
        data = data.to(kind) * cast(float, weights)
    flat = data.to(kind).flatten(1) if data.dim() > 2 else data.to(kind)
    values = multiply(matrix, sub.mode, flat, per_arc).reshape(-1, *data.shape[1:])
    if reduction.name == "mean":
        count = matrix.receivers(sub.mode).out_degree.clamp(min=1).to(values.dtype)
        values = values / column(count, values)
    return Received(values)


@BACKENDS[name].implements(adjoints.products, refuses)
def products(sub: Subgraph, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
    """As the portable `products`: a product of dense matrices, sampled at the arcs where these have one weight each."""
    if heads != 1 or _refuses_arcs(sub) is not None or not data.numel():
        return adjoints.products(sub, row_data, data, heads)
    return sampled(Matrix(sub.graph, sub.mirrored), row_data, data)[:, None]


BACKENDS[name].yields, BACKENDS[name].is_ordered = yields, is_ordered


def _dtype(data: Tensor, reduction: Reduction, edge: str, weights: Weights, dtype: torch.dtype | None) -> torch.dtype:
    """The dtype of the messages."""
    sent = sent_dtype(dtype or data.dtype, reduction, edge)
    per_arc = edge != "copy" and isinstance(weights, Tensor) and weights.dim() > 0
    return torch.promote_types(sent, cast(Tensor, weights).dtype) if per_arc else sent
