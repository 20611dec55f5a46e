"""The registered operators behind a differentiable or compiled `aggregate`, on any backend.

A sum over arcs is linear in the data and in the weights, and its gradients are sums over the same arcs. Three linear
maps are closed under differentiation, as often as one likes:

    pull       row r receives         the sum over its arcs of weight * data[neighbour]
    push       neighbour v receives   the sum over its arcs of weight * data[row]
    products   each arc gets          the product of the data at its two ends

A min or max passes the gradient to the message that won, the first of equal ones, which `winners` finds: linear
again. `pull_won` tells them as it pulls. Vertex data is [n, columns] here, data of
the rows [k, columns], and weights are [arcs, heads], each of them for columns / heads adjacent columns.

Operators know tensors only. The arcs are `offset` and `neighbors` as they are stored, of which `rows`, the first
`width` arcs of each, and those from `heard` vertices count (None, negative, None: all). `back_offset` and
`back_neighbors` hold all arcs by their other end, if they are stored, so that a gradient is pulled and not pushed:
`permutation` brings weights into their order, or, where `mirrored`, out of it.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.library import register
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Mode, Subgraph
from tgraph.kernels import choose, find
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.call import Call
from tgraph.kernels.messages import sent_dtype, shaped
from tgraph.kernels.reductions import Reduction, reduction_of


class Arcs(NamedTuple):
    """The arcs that an operator walks, as its arguments; the other end is left out of a push."""

    offset: Tensor
    neighbors: Tensor
    rows: Tensor | None = None
    width: int = -1
    heard: Tensor | None = None
    back_offset: Tensor | None = None
    back_neighbors: Tensor | None = None
    permutation: Tensor | None = None
    mirrored: bool = False

    @classmethod
    def of(cls, tensors: Sequence[Tensor | None], width: int, mirrored: bool = False) -> Arcs:
        """The arcs of these `tensors`, in the order of the property."""
        offset, neighbors, rows, heard, back_offset, back_neighbors, permutation = tensors
        assert offset is not None and neighbors is not None
        return cls(offset, neighbors, rows, width, heard, back_offset, back_neighbors, permutation, mirrored)

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors among the arguments."""
        return (*self[:3], *self[4:8])

    @property
    def num_rows(self) -> int:
        """k, the rows held."""
        return self.offset.shape[0] - 1 if self.rows is None else self.rows.shape[0]

    def num_heard(self, backend: str) -> Tensor:
        """How many arcs each row is reached by, int64 [k, 1]."""
        if self.heard is not None:
            ones = torch.ones((self.heard.shape[0], 1), dtype=torch.int64, device=self.offset.device)
            return pull(ones, None, None, *self, "sum", "copy", backend)
        degree = self.offset.diff() if self.rows is None else self.offset[self.rows + 1] - self.offset[self.rows]
        return (degree if self.width < 0 else degree.clamp(max=self.width))[:, None]

    @property
    def held(self) -> tuple[Any, ...]:
        """The arguments of a push."""
        return self[:5]

    def opposite(self) -> Arcs:
        """All arcs by their other end."""
        assert self.back_offset is not None and self.back_neighbors is not None
        back = (self.back_offset, self.back_neighbors, None, -1, None)
        return Arcs(*back, self.offset, self.neighbors, self.permutation, not self.mirrored)

    def back_weights(self, weights: Tensor) -> Tensor:
        """The weights [arcs, heads] in the order of `opposite()`."""
        assert self.permutation is not None
        if self.mirrored:
            return torch.empty_like(weights).index_copy(0, self.permutation, weights)
        return weights.index_select(0, self.permutation)


_NONE = (None,) * 13  # the gradients of arguments that have none

_HELD = "Tensor offset, Tensor neighbors, Tensor? rows, int width, Tensor? heard"
_ARCS = f"{_HELD}, Tensor? back_offset, Tensor? back_neighbors, Tensor? permutation, bool mirrored"

# The graphs whose tensors operators are given, by their neighbours, so that what backends keep with a graph is found
# again; as long as both live.
_graphs: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def remember(graph: Graph) -> None:
    """Let operators that are given the tensors of the graph know whose they are."""
    graph = graph.decoded()
    if _remembered(graph.offset, graph.neighbors) is None:
        _graphs[graph.neighbors] = weakref.ref(graph)


def _remembered(offset: Tensor, neighbors: Tensor) -> Graph | None:
    known = _graphs.get(neighbors)
    graph = None if known is None else known()
    return graph if graph is not None and graph.offset is offset else None


def _graph_of(offset: Tensor, neighbors: Tensor) -> Graph:
    graph = _remembered(offset, neighbors) or Graph(offset, neighbors)
    graph.ensure_valid()
    return graph


def _subgraph(mode: Mode, held: Sequence[Any], backend: str) -> Subgraph:
    """The arcs that an operator was given; the first five arguments for them tell which."""
    offset, neighbors, rows, width, heard = held[:5]
    graph = _graph_of(offset, neighbors)
    selection = Selection(offset, neighbors, rows, width=None if width < 0 else width)
    return Subgraph(graph, Frontier(graph, mask=heard), mode, rows, selection, False, backend)


def _serving(backend: str, operation: str, data: Tensor, reduction: Reduction | None = None, edge: str = "copy") -> Any:
    """The function for an operation that not every backend offers."""
    call = Call(operation, data, reduction, edge)
    choice = find(backend, call)
    return (choose("auto", call) if choice.backend is None else choice).run


# ---- what they compute ----------------------------------------------------------------------------------------------


def compute_pull(data: Tensor, weights: Tensor | None, back_weights: Tensor | None, *rest: Any) -> Tensor:
    """`pull` without the operator: under transforms of torch.func, which have no rules for it, by torch's own."""
    *arcs, reduce, edge, backend = rest
    sub = _subgraph("pull", arcs, backend)
    reduction, columns = reduction_of(reduce), data.shape[1]
    data, weights = shaped(data, weights)
    received = choose(backend, Call("aggregate", data, reduction, edge, weights, sub=sub)).run(
        sub, data, reduction, edge, weights
    )
    return received.values.reshape(len(received.values), columns).contiguous()


def _pull_fake(data: Tensor, weights: Tensor | None, back_weights: Tensor | None, *rest: Any) -> Tensor:
    *arcs, reduce, edge, _ = rest
    reduction = reduction_of(reduce)
    dtype = sent_dtype(data.dtype, reduction, edge)
    if weights is not None and edge != "copy":
        dtype = torch.promote_types(dtype, weights.dtype)
    if reduction.name == "mean" and not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    received = (Arcs(*arcs).num_rows, data.shape[1])
    return data.new_empty(received, dtype=torch.bool if reduction.logical else dtype)


def _push(data: Tensor, weights: Tensor | None, *rest: Any) -> Tensor:
    *arcs, reduce, edge, backend = rest
    reduction = reduction_of(reduce)
    run = _serving(backend, "push_rows", data, reduction, edge)
    return run(_subgraph("push", arcs, backend), data, reduction, edge, weights)


def _push_fake(data: Tensor, weights: Tensor | None, *rest: Any) -> Tensor:
    offset, logical = rest[0], reduction_of(rest[5]).logical
    return data.new_empty((offset.shape[0] - 1, data.shape[1]), dtype=torch.bool if logical else data.dtype)


def _products(row_data: Tensor, data: Tensor, num_arcs: int, heads: int, *rest: Any) -> Tensor:
    *arcs, backend = rest
    return _serving(backend, "products", data)(_subgraph("pull", arcs, backend), row_data, data, heads)


def _products_fake(row_data: Tensor, data: Tensor, num_arcs: int, heads: int, *rest: Any) -> Tensor:
    return data.new_empty((num_arcs, heads))


def _winners(data: Tensor, weights: Tensor | None, best: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    *arcs, mode, reduce, edge, backend = rest
    run = _serving(backend, "winners", data)
    return run(_subgraph(mode, arcs, backend), data, reduction_of(reduce), edge, weights, best)


def _pull_won(data: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    *held, reduce, backend = rest
    return _serving(backend, "pull_won", data)(_subgraph("pull", held, backend), data, reduction_of(reduce))


def _pull_won_fake(data: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    shape, wide = (Arcs(*rest[:5]).num_rows, data.shape[1]), data.dtype == torch.float64
    return data.new_empty(shape), data.new_empty(shape, dtype=torch.int64 if wide else torch.int32)


def _give_won(grad: Tensor, won: Tensor, *rest: Any) -> Tensor:
    *held, backend = rest
    return _serving(backend, "give_won", grad)(_subgraph("pull", held, backend), grad, won)


def _give_won_fake(grad: Tensor, won: Tensor, *rest: Any) -> Tensor:
    return grad.new_empty((rest[0].shape[0] - 1, grad.shape[1]))


def _added_up(data: Tensor, sender: Tensor, grad: Tensor) -> Tensor:
    """For each sender and column the sum of its part of `grad`, of the shape of `data`."""
    return add_at(grad.flatten(), _origin(data, sender), data.numel()).view_as(data)


def _origin(data: Tensor, sender: Tensor) -> Tensor:
    """The positions in flat `data` of what was received, by the sender of each column."""
    column = torch.arange(data.shape[1], device=data.device)
    return (sender.clamp(min=0) * data.shape[1] + column).flatten()


def _winners_fake(data: Tensor, weights: Tensor | None, best: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(best, dtype=torch.int64), torch.empty_like(best, dtype=torch.int64)


# ---- how they are differentiated ------------------------------------------------------------------------------------


def _save_pull(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    data, weights, back_weights, *rest = inputs
    *arcs, ctx.reduce, ctx.edge, ctx.backend = rest
    _save(ctx, Arcs(*arcs), data, weights, back_weights, output)


def _save_push(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    data, weights, *rest = inputs
    *arcs, ctx.reduce, ctx.edge, ctx.backend = rest
    _save(ctx, Arcs(*arcs), data, weights, None, output)


def _save(
    ctx: Any, arcs: Arcs, data: Tensor, weights: Tensor | None, back_weights: Tensor | None, output: Tensor
) -> None:
    """Keep what the backward pass will read, and no more."""
    selects, scales = ctx.reduce in ("min", "max"), ctx.edge == "mul"
    ctx.size, ctx.heads, ctx.num_arcs = data.shape, 1, 0
    if weights is not None:
        ctx.num_arcs, ctx.heads = weights.shape
    ctx.width, ctx.mirrored = arcs.width, arcs.mirrored
    ctx.save_for_backward(
        data if selects or (scales and ctx.needs_input_grad[1]) else None,
        weights if selects or scales else None,
        back_weights if scales else None,
        output if selects else None,
        *arcs.tensors,
    )


def _pull_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    data, weights, back_weights, best, *tensors = ctx.saved_tensors
    arcs = Arcs.of(tensors, ctx.width, ctx.mirrored)
    _check_has_gradient(ctx)
    if best is not None:
        return *_to_winners(ctx, "pull", arcs, data, weights, best, grad), *_NONE[:13]
    if ctx.reduce == "mean":
        grad = grad / arcs.num_heard(ctx.backend).clamp(min=1)
    to_data = to_weights = None
    if ctx.needs_input_grad[0]:
        to_data = _send_back(ctx, arcs, grad, weights, back_weights)
    if ctx.needs_input_grad[1]:
        data = grad.new_ones(ctx.size) if data is None else data
        to_weights = products(grad, data, ctx.num_arcs, ctx.heads, *arcs, ctx.backend)
    return to_data, to_weights, *_NONE[:13]


def _check_has_gradient(ctx: Any) -> None:
    if ctx.reduce not in ("sum", "mean", "min", "max") or ctx.edge not in ("copy", "add", "mul"):
        raise NotImplementedError(
            f"tgraph::pull and push have no gradient of reduce={ctx.reduce!r} with edge={ctx.edge!r}; "
            "tgraph.aggregate has, message by message"
        )


def _send_back(
    ctx: Any, arcs: Arcs, grad: Tensor, weights: Tensor | None, back_weights: Tensor | None = None
) -> Tensor:
    """What the neighbours receive from the rows, [n, columns]: by a pull from the arcs' other end, if it is stored."""
    edge = "copy" if weights is None else "mul"
    if arcs.back_offset is None:
        sent = push(grad, weights, *arcs.held, "sum", edge, ctx.backend)
        return sent if arcs.heard is None else torch.where(arcs.heard[:, None], sent, 0)
    if weights is not None and back_weights is None:
        back_weights = arcs.back_weights(weights)
    return pull(grad, back_weights, weights, *arcs.opposite(), "sum", edge, ctx.backend)


def _push_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    data, weights, _, best, *tensors = ctx.saved_tensors
    arcs = Arcs.of(tensors, ctx.width)
    _check_has_gradient(ctx)
    if best is not None:
        return *_to_winners(ctx, "push", arcs, data, weights, best, grad), *_NONE[:8]
    if ctx.reduce == "mean":
        ones = torch.ones((ctx.size[0], 1), dtype=torch.int64, device=grad.device)
        grad = grad / push(ones, None, *arcs.held, "sum", "copy", ctx.backend).clamp(min=1)
    to_data = to_weights = None
    if ctx.needs_input_grad[0]:
        to_data = pull(grad, weights, None, *arcs, "sum", "copy" if weights is None else "mul", ctx.backend)
    if ctx.needs_input_grad[1]:
        data = grad.new_ones(ctx.size) if data is None else data
        to_weights = products(data, grad, ctx.num_arcs, ctx.heads, *arcs, ctx.backend)
    return to_data, to_weights, *_NONE[:8]


def _to_winners(
    ctx: Any, mode: Mode, arcs: Arcs, data: Tensor, weights: Tensor | None, best: Tensor, grad: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of a min or max, to the data and to the weight of the message that won."""
    fixed = None if weights is None else weights.detach()
    how = (mode, ctx.reduce, ctx.edge, ctx.backend)
    sender, arc = winners(data.detach(), fixed, best.detach(), *arcs.held, *how)
    if 0 in data.shape or (weights is not None and 0 in weights.shape):  # nobody sent
        return torch.zeros_like(data), None if weights is None else torch.zeros_like(weights)
    grad = torch.where(arc >= 0, grad, 0)
    if weights is None:
        return _added_up(data, sender, grad), None
    grad, origin = grad.flatten(), _origin(data, sender)
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


def _save_pull_won(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    _, *held, _, ctx.backend = inputs
    ctx.width = held[3]
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)  # zeros of the winners' size, which nobody reads
    ctx.save_for_backward(output[1], *Arcs(*held).tensors)


def _pull_won_backward(ctx: Any, grad: Tensor | None, _: Any) -> tuple[Tensor | None, ...]:
    if grad is None:
        return None, *_NONE[:7]
    won, *tensors = ctx.saved_tensors
    return give_won(grad.contiguous(), won, *Arcs.of(tensors, ctx.width).held, ctx.backend), *_NONE[:7]


def _save_give_won(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _, won, *held, _ = inputs
    ctx.width = held[3]
    ctx.save_for_backward(won, *Arcs(*held).tensors)


def _give_won_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    """Rows take from the neighbours what they gave: linear, and differentiable again."""
    won, *tensors = ctx.saved_tensors
    arcs = Arcs.of(tensors, ctx.width)
    begin = arcs.offset[:-1] if arcs.rows is None else arcs.offset.index_select(0, arcs.rows)
    arc = (begin[:, None] + won.clamp(min=0)).clamp(max=max(arcs.neighbors.shape[0] - 1, 0))
    if not len(arcs.neighbors):
        return grad.new_zeros(won.shape), *_NONE[:7]
    sender = arcs.neighbors[arc]
    taken = take(grad.flatten(), _origin(grad, sender)).view(won.shape)
    return torch.where(won >= 0, taken, 0), *_NONE[:7]


def _save_products(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    row_data, data, _, _, *rest, ctx.backend = inputs
    arcs = Arcs(*rest)
    ctx.width, ctx.mirrored = arcs.width, arcs.mirrored
    ctx.save_for_backward(row_data, data, *arcs.tensors)


def _products_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    row_data, data, *tensors = ctx.saved_tensors
    arcs = Arcs.of(tensors, ctx.width, ctx.mirrored)
    to_rows = to_data = None
    if ctx.needs_input_grad[0]:
        to_rows = pull(data, grad, None, *arcs, "sum", "mul", ctx.backend)
    if ctx.needs_input_grad[1]:
        to_data = _send_back(ctx, arcs, row_data, grad)
    return to_rows, to_data, *_NONE[:12]


pull = register(
    f"pull(Tensor data, Tensor? weights, Tensor? back_weights, {_ARCS}, str reduce, str edge, str backend) -> Tensor",
    compute_pull,
    _pull_fake,
    _save_pull,
    _pull_backward,
)
push = register(
    f"push(Tensor data, Tensor? weights, {_HELD}, str reduce, str edge, str backend) -> Tensor",
    _push,
    _push_fake,
    _save_push,
    _push_backward,
)
products = register(
    f"products(Tensor row_data, Tensor data, SymInt num_arcs, SymInt heads, {_ARCS}, str backend) -> Tensor",
    _products,
    _products_fake,
    _save_products,
    _products_backward,
)
winners = register(
    f"winners(Tensor data, Tensor? weights, Tensor best, {_HELD}, str mode, str reduce, str edge, str backend) "
    "-> (Tensor, Tensor)",
    _winners,
    _winners_fake,
)
pull_won = register(
    f"pull_won(Tensor data, {_HELD}, str reduce, str backend) -> (Tensor, Tensor)",
    _pull_won,
    _pull_won_fake,
    _save_pull_won,
    _pull_won_backward,
)
give_won = register(
    f"give_won(Tensor grad, Tensor won, {_HELD}, str backend) -> Tensor",
    _give_won,
    _give_won_fake,
    _save_give_won,
    _give_won_backward,
)
