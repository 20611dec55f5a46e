"""The registered operators behind a differentiable or compiled `aggregate`, on any backend.

A sum over arcs is linear in the data and in the weights, and its gradients are sums over the same arcs. Three linear
maps are closed under differentiation, of any order:

    pull       row r receives         the sum over its arcs of weight * data[neighbour]
    push       neighbour v receives   the sum over its arcs of weight * data[row]
    products   each arc gets          the product of the data at its two ends

The gradient of a min or max goes to the message that attained it, the first of equal ones. `argreduce` finds it from
the result; `segment_argreduce` returns it with the result, and `scatter_argreduce` is its gradient. Vertex data is
[n, columns] here, data of the rows [k, columns], and weights are [arcs, heads], each of them for columns / heads
adjacent columns.

What the operators have in common:

arcs, active_mask : the rows, and the neighbours that send, bool [n], None for all.
transpose : all arcs by their neighbour, if they are stored, so that a gradient is pulled and not pushed. Its
    permutation has the number of each of its arcs among `arcs`, of which `inverse_permutation` is the inverse. One of
    them is given where weights are, unless `transposed_weights` are: the weights in the order of the transpose.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.owner import owner_of
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Mode, Subgraph
from tgraph.kernels import choose, find
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.autograd.structured import (
    StructuredOperator,
    pack_csr,
    pack_selection,
    register,
    unpack_csr,
    unpack_selection,
)
from tgraph.kernels.call import Call
from tgraph.kernels.messages import sent_dtype, shaped
from tgraph.kernels.reductions import Reduction, reduction_of


def _subgraph(mode: Mode, arcs: Selection, active_mask: Tensor | None, backend: str) -> Subgraph:
    offset, neighbors = arcs.stored_offset, arcs.stored_neighbors
    graph = owner_of(neighbors)
    if graph is None or graph.offset is not offset:
        graph = Graph(offset, neighbors)
    graph.ensure_valid()
    return Subgraph(graph, Frontier(graph, mask=active_mask), mode, arcs.rows, arcs, False, backend)


def _serving(backend: str, operation: str, data: Tensor, reduction: Reduction | None = None, edge: str = "copy") -> Any:
    """The function for an operation that not every backend offers."""
    call = Call(operation, data, reduction, edge)
    choice = find(backend, call)
    return (choose("auto", call) if choice.backend is None else choice).run


def _check_has_gradient(reduce: str, edge: str) -> None:
    if reduce not in ("sum", "mean", "min", "max") or edge not in ("copy", "add", "mul"):
        raise NotImplementedError(
            f"tgraph::pull and push have no gradient of reduce={reduce!r} with edge={edge!r}; "
            "tgraph.aggregate has, message by message"
        )


# ---- pull -----------------------------------------------------------------------------------------------------------


def compute_pull(
    data: Tensor,
    weights: Tensor | None,
    transposed_weights: Tensor | None,
    arcs: Selection,
    active_mask: Tensor | None,
    transpose: Csr | None,
    inverse_permutation: Tensor | None,
    reduce: str,
    edge: str,
    backend: str,
) -> Tensor:
    """`pull` without the operator: under transforms of torch.func, which have no rules for it, by torch's own."""
    sub = _subgraph("pull", arcs, active_mask, backend)
    reduction, columns = reduction_of(reduce), data.shape[1]
    data, weights = shaped(data, weights)
    call = Call("aggregate", data, reduction, edge, weights, sub=sub)
    values = choose(backend, call).run(sub, data, reduction, edge, weights).values
    return values.reshape(len(values), columns).contiguous()


def _pull_fake(data: Tensor, weights: Tensor | None, _: Tensor | None, arcs: Selection, *others: Any) -> Tensor:
    reduce, edge, _ = others[-3:]
    reduction = reduction_of(reduce)
    dtype = sent_dtype(data.dtype, reduction, edge)
    if weights is not None and edge != "copy":
        dtype = torch.promote_types(dtype, weights.dtype)
    if reduction.name == "mean" and not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    received = (arcs.num_rows, data.shape[1])
    return data.new_empty(received, dtype=torch.bool if reduction.logical else dtype)


def _save_pull(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    data, weights, transposed_weights, arcs, active_mask, transpose, inverse_permutation, *how = inputs
    ctx.reduce, ctx.edge, ctx.backend = how
    _save_sizes(ctx, data, weights)
    selects, scales = ctx.reduce in ("min", "max"), ctx.edge == "mul"
    ctx.save_for_backward(
        data if selects or (scales and ctx.needs_input_grad[1]) else None,
        weights if selects or scales else None,
        transposed_weights if scales else None,
        output if selects else None,
        *_packed(ctx, arcs, active_mask, transpose, inverse_permutation),
    )


def _save_sizes(ctx: Any, data: Tensor, weights: Tensor | None) -> None:
    ctx.size = data.shape
    ctx.num_arcs, ctx.heads = (0, 1) if weights is None else weights.shape


def _packed(
    ctx: Any, arcs: Selection, active_mask: Tensor | None, transpose: Csr | None, inverse_permutation: Tensor | None
) -> tuple[Any, ...]:
    """The tensors of the structure, for `_unpacked`."""
    *tensors, ctx.width = pack_selection(arcs)
    return *tensors, active_mask, inverse_permutation, *pack_csr(transpose)


_Structure = tuple[Selection, "Tensor | None", "Csr | None", "Tensor | None"]


def _unpacked(ctx: Any, tensors: list[Any]) -> _Structure:
    """(arcs, active_mask, transpose, inverse_permutation)"""
    active_mask, inverse_permutation, *transpose = tensors[3:]
    return _selection(ctx, tensors[:3]), active_mask, unpack_csr(*transpose), inverse_permutation


def _selection(ctx: Any, tensors: list[Any]) -> Selection:
    offset, neighbors, rows = tensors
    return unpack_selection(offset, neighbors, rows, ctx.width)


def _pull_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    data, weights, transposed_weights, best, *tensors = ctx.saved_tensors
    structure = arcs, active_mask, *_ = _unpacked(ctx, tensors)
    _check_has_gradient(ctx.reduce, ctx.edge)
    if best is not None:
        return _gradient_of_best(ctx, "pull", arcs, active_mask, data, weights, best, grad)
    if ctx.reduce == "mean":
        grad = grad / _count_active(arcs, active_mask, ctx.backend).clamp(min=1)
    to_data = to_weights = None
    if ctx.needs_input_grad[0]:
        to_data = _pull_transposed(grad, weights, transposed_weights, structure, ctx.backend)
    if ctx.needs_input_grad[1]:
        data = grad.new_ones(ctx.size) if data is None else data
        to_weights = products(grad, data, ctx.num_arcs, ctx.heads, *structure, ctx.backend)
    return to_data, to_weights


def _count_active(arcs: Selection, active_mask: Tensor | None, backend: str) -> Tensor:
    """The number of arcs from active neighbours of each row, int64 [k, 1]."""
    if active_mask is not None:
        ones = torch.ones((active_mask.shape[0], 1), dtype=torch.int64, device=active_mask.device)
        return pull(ones, None, None, arcs, active_mask, None, None, "sum", "copy", backend)
    offset, rows, width = arcs.stored_offset, arcs.rows, arcs.width
    degree = offset.diff() if rows is None else offset[rows + 1] - offset[rows]
    return (degree if width is None else degree.clamp(max=width))[:, None]


def _pull_transposed(
    grad: Tensor, weights: Tensor | None, transposed_weights: Tensor | None, structure: _Structure, backend: str
) -> Tensor:
    """The sum at the neighbours of what the rows send, [n, columns]: a push where the transpose is not stored."""
    arcs, active_mask, transpose, inverse_permutation = structure
    edge = "copy" if weights is None else "mul"
    if transpose is None:
        sent = push(grad, weights, arcs, "sum", edge, backend)
        return sent if active_mask is None else torch.where(active_mask[:, None], sent, 0)
    if weights is not None and transposed_weights is None:
        transposed_weights = _transposed(weights, transpose, inverse_permutation)
    rows = Selection(transpose.offset, transpose.neighbors)
    back = Csr.unchecked(arcs.stored_offset, arcs.stored_neighbors, inverse_permutation, 0)
    return pull(grad, transposed_weights, weights, rows, None, back, transpose.permutation, "sum", edge, backend)


def _transposed(weights: Tensor, transpose: Csr, inverse_permutation: Tensor | None) -> Tensor:
    """The weights [arcs, heads] in the order of the transpose."""
    if inverse_permutation is None:
        assert transpose.permutation is not None
        return weights.index_select(0, transpose.permutation)
    return torch.empty_like(weights).index_copy(0, inverse_permutation, weights)


# ---- push -----------------------------------------------------------------------------------------------------------


def _push(data: Tensor, weights: Tensor | None, arcs: Selection, reduce: str, edge: str, backend: str) -> Tensor:
    reduction = reduction_of(reduce)
    run = _serving(backend, "push_rows", data, reduction, edge)
    return run(_subgraph("push", arcs, None, backend), data, reduction, edge, weights)


def _push_fake(data: Tensor, weights: Tensor | None, arcs: Selection, reduce: str, edge: str, backend: str) -> Tensor:
    dtype = torch.bool if reduction_of(reduce).logical else data.dtype
    return data.new_empty((arcs.stored_offset.shape[0] - 1, data.shape[1]), dtype=dtype)


def _save_push(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    data, weights, arcs, ctx.reduce, ctx.edge, ctx.backend = inputs
    _save_sizes(ctx, data, weights)
    selects, scales = ctx.reduce in ("min", "max"), ctx.edge == "mul"
    *tensors, ctx.width = pack_selection(arcs)
    ctx.save_for_backward(
        data if selects or (scales and ctx.needs_input_grad[1]) else None,
        weights if selects or scales else None,
        output if selects else None,
        *tensors,
    )


def _push_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    data, weights, best, *tensors = ctx.saved_tensors
    arcs = _selection(ctx, tensors)
    _check_has_gradient(ctx.reduce, ctx.edge)
    if best is not None:
        return _gradient_of_best(ctx, "push", arcs, None, data, weights, best, grad)
    if ctx.reduce == "mean":
        ones = torch.ones((ctx.size[0], 1), dtype=torch.int64, device=grad.device)
        grad = grad / push(ones, None, arcs, "sum", "copy", ctx.backend).clamp(min=1)
    to_data = to_weights = None
    if ctx.needs_input_grad[0]:
        edge = "copy" if weights is None else "mul"
        to_data = pull(grad, weights, None, arcs, None, None, None, "sum", edge, ctx.backend)
    if ctx.needs_input_grad[1]:
        data = grad.new_ones(ctx.size) if data is None else data
        to_weights = products(data, grad, ctx.num_arcs, ctx.heads, arcs, None, None, None, ctx.backend)
    return to_data, to_weights


# ---- products -------------------------------------------------------------------------------------------------------


def _products(
    row_data: Tensor, data: Tensor, _: int, heads: int, arcs: Selection, active_mask: Tensor | None, *others: Any
) -> Tensor:
    backend = others[-1]
    return _serving(backend, "products", data)(_subgraph("pull", arcs, active_mask, backend), row_data, data, heads)


def _save_products(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    row_data, data, _, _, *structure, ctx.backend = inputs
    ctx.save_for_backward(row_data, data, *_packed(ctx, *structure))


def _products_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    row_data, data, *tensors = ctx.saved_tensors
    structure = _unpacked(ctx, tensors)
    to_rows = to_data = None
    if ctx.needs_input_grad[0]:
        to_rows = pull(data, grad, None, *structure, "sum", "mul", ctx.backend)
    if ctx.needs_input_grad[1]:
        to_data = _pull_transposed(row_data, grad, None, structure, ctx.backend)
    return to_rows, to_data


# ---- the message that attains a min or max --------------------------------------------------------------------------


def _argreduce(
    data: Tensor,
    weights: Tensor | None,
    best: Tensor,
    arcs: Selection,
    active_mask: Tensor | None,
    mode: Mode,
    reduce: str,
    edge: str,
    backend: str,
) -> tuple[Tensor, Tensor]:
    run = _serving(backend, "argreduce", data)
    return run(_subgraph(mode, arcs, active_mask, backend), data, reduction_of(reduce), edge, weights, best)


def _argreduce_fake(data: Tensor, weights: Tensor | None, best: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(best, dtype=torch.int64), torch.empty_like(best, dtype=torch.int64)


def _gradient_of_best(
    ctx: Any,
    mode: Mode,
    arcs: Selection,
    active_mask: Tensor | None,
    data: Tensor,
    weights: Tensor | None,
    best: Tensor,
    grad: Tensor,
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of a min or max, to the data and the weight of the message that attains it."""
    fixed, how = None if weights is None else weights.detach(), (mode, ctx.reduce, ctx.edge, ctx.backend)
    sender, arc = argreduce(data.detach(), fixed, best.detach(), arcs, active_mask, *how)
    if 0 in data.shape or (weights is not None and 0 in weights.shape):  # no messages
        return torch.zeros_like(data), None if weights is None else torch.zeros_like(weights)
    grad = torch.where(arc >= 0, grad, 0).flatten()
    origin = _origin(data, sender)
    if weights is None:
        return add_at(grad, origin, data.numel()).view_as(data), None
    head = torch.arange(data.shape[1], device=grad.device) // (data.shape[1] // weights.shape[1])
    place = (arc.clamp(min=0) * weights.shape[1] + head).flatten()
    to_data = to_weights = None
    if ctx.needs_input_grad[0]:
        sent = grad * take(weights.flatten(), place) if ctx.edge == "mul" else grad
        to_data = add_at(sent, origin, data.numel()).view_as(data)
    if ctx.needs_input_grad[1]:
        sent = grad * take(data.flatten(), origin) if ctx.edge == "mul" else grad
        to_weights = add_at(sent, place, weights.numel()).view_as(weights)
    return to_data, to_weights


def _origin(data: Tensor, sender: Tensor) -> Tensor:
    """The positions in flat `data` of what was received, by the sender of each column."""
    column = torch.arange(data.shape[1], device=data.device)
    return (sender.clamp(min=0) * data.shape[1] + column).flatten()


def _segment_argreduce(
    data: Tensor, arcs: Selection, active_mask: Tensor | None, reduce: str, backend: str
) -> tuple[Tensor, Tensor]:
    run = _serving(backend, "segment_argreduce", data)
    return run(_subgraph("pull", arcs, active_mask, backend), data, reduction_of(reduce))


def _segment_argreduce_fake(
    data: Tensor, arcs: Selection, active_mask: Tensor | None, reduce: str, backend: str
) -> tuple[Tensor, Tensor]:
    shape, wide = (arcs.num_rows, data.shape[1]), data.dtype == torch.float64
    return data.new_empty(shape), data.new_empty(shape, dtype=torch.int64 if wide else torch.int32)


def _save_segment_argreduce(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    _, arcs, _, _, ctx.backend = inputs
    *tensors, ctx.width = pack_selection(arcs)
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)  # no zeros of the size of the indices
    ctx.save_for_backward(output[1], *tensors)


def _segment_argreduce_backward(ctx: Any, grad: Tensor | None, _: Any) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,)
    index, *tensors = ctx.saved_tensors
    return (scatter_argreduce(grad.contiguous(), index, _selection(ctx, tensors), ctx.backend),)


def _scatter_argreduce(grad: Tensor, index: Tensor, arcs: Selection, backend: str) -> Tensor:
    return _serving(backend, "scatter_argreduce", grad)(_subgraph("pull", arcs, None, backend), grad, index)


def _scatter_argreduce_fake(grad: Tensor, index: Tensor, arcs: Selection, backend: str) -> Tensor:
    return grad.new_empty((arcs.stored_offset.shape[0] - 1, grad.shape[1]))


def _save_scatter_argreduce(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _, index, arcs, _ = inputs
    *tensors, ctx.width = pack_selection(arcs)
    ctx.save_for_backward(index, *tensors)


def _scatter_argreduce_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    """A gather, differentiable again."""
    index, *tensors = ctx.saved_tensors
    arcs = _selection(ctx, tensors)
    offset, neighbors, rows = arcs.stored_offset, arcs.stored_neighbors, arcs.rows
    begin = offset[:-1] if rows is None else offset.index_select(0, rows)
    if not len(neighbors):
        return (grad.new_zeros(index.shape),)
    sender = neighbors[(begin[:, None] + index.clamp(min=0)).clamp(max=neighbors.shape[0] - 1)]
    taken = take(grad.flatten(), _origin(grad, sender)).view(index.shape)
    return (torch.where(index >= 0, taken, 0),)


# ---- registration ---------------------------------------------------------------------------------------------------

_STRUCTURE = "Selection arcs, Tensor? active_mask, Csr? transpose, Tensor? inverse_permutation"

pull: StructuredOperator = register(
    f"pull(Tensor data, Tensor? weights, Tensor? transposed_weights, {_STRUCTURE}, str reduce, str edge, str backend) "
    "-> Tensor",
    compute_pull,
    _pull_fake,
    _save_pull,
    _pull_backward,
)
push: StructuredOperator = register(
    "push(Tensor data, Tensor? weights, Selection arcs, str reduce, str edge, str backend) -> Tensor",
    _push,
    _push_fake,
    _save_push,
    _push_backward,
)
products: StructuredOperator = register(
    f"products(Tensor row_data, Tensor data, SymInt num_arcs, SymInt heads, {_STRUCTURE}, str backend) -> Tensor",
    _products,
    lambda row_data, data, num_arcs, heads, *others: data.new_empty((num_arcs, heads)),
    _save_products,
    _products_backward,
)
argreduce: StructuredOperator = register(
    "argreduce(Tensor data, Tensor? weights, Tensor best, Selection arcs, Tensor? active_mask, str mode, str reduce, "
    "str edge, str backend) -> (Tensor, Tensor)",
    _argreduce,
    _argreduce_fake,
)
segment_argreduce: StructuredOperator = register(
    "segment_argreduce(Tensor data, Selection arcs, Tensor? active_mask, str reduce, str backend) -> (Tensor, Tensor)",
    _segment_argreduce,
    _segment_argreduce_fake,
    _save_segment_argreduce,
    _segment_argreduce_backward,
)
scatter_argreduce: StructuredOperator = register(
    "scatter_argreduce(Tensor grad, Tensor index, Selection arcs, str backend) -> Tensor",
    _scatter_argreduce,
    _scatter_argreduce_fake,
    _save_scatter_argreduce,
    _scatter_argreduce_backward,
)
