"""Aggregates by functions: messages from both ends of an arc and its data (DGL's `apply_edges`, PyTorch Geometric's
`message`, the triplets of GraphX), and reductions of the messages of each vertex. Functions are called for some arcs
after others, so that no tensor has a row for each arc of a large graph; with gradients they are called again in the
backward, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import checkpoint

from tgraph.core.rows import Decoded, LayoutSelection, offset_of
from tgraph.core.subgraph import Received, Subgraph, whole
from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.layout import by_rows, spreading
from tgraph.kernels.layout.arcs import computed_in, parts, receive_in_transpose, receiving
from tgraph.kernels.messages import across, column, is_per_arc, promoted
from tgraph.kernels.operators.aggregation.aggregation import receivers_of, reduce_messages, reduced
from tgraph.kernels.reductions import REDUCTIONS, Reduction
from tgraph.model.segments import SEGMENTS

Data = Tensor | dict[str, Tensor]
Weights = Tensor | float | dict[str, Tensor] | None
ARCS = 1 << 18  # of a part


def aggregate(
    sub: Subgraph,
    data: Data,
    reduce: str | Callable[..., Tensor],
    edge: str | Callable[..., Tensor],
    weights: Weights,
    dtype: torch.dtype | None,
    numbers: Tensor | None = None,
) -> Received:
    """The reduction, by a name or a function(messages, offset, sender), of the messages of an edge operation, or of a
    function(source, target, arc) or (source, target). `numbers` : of the vertices in the graph that this is a part of.
    """
    if sub.graph.layout is not None and sub.graph.layout.is_distributed:
        return _on_ranks(sub, data, reduce, edge, weights, dtype)
    if sub.mode == "push" and sub.is_whole:
        sub = whole(sub.graph, sub.active, "pull", sub.backend)
    reduction = REDUCTIONS.get(reduce) if isinstance(reduce, str) else None
    if reduction is not None and isinstance(edge, str) and isinstance(data, Tensor):
        data = promoted(data, reduction, edge)
    if reduction is not None and sends_arc_data(sub, reduction.name, weights):
        return Received(_sent(sub, data, reduction, edge, weights, dtype))
    whole_rows = reduction is None and sub.mode == "push"  # a receiver's messages come from several rows

    def received(part: Subgraph) -> Received:
        part = _decoded(part)  # here, so that a backward keeps no arcs
        if reduction is not None:
            messages = _converted(_messages(part, data, edge, weights, *_ends(part)), dtype)
            return reduced(reduce_messages, part, promoted(messages, reduction, "copy"), reduction)
        sender, receiver, offset, order, vertices = _segments(part)
        messages = _converted(_messages(part, data, edge, weights, sender, receiver, order), dtype)
        sender = sender if numbers is None else numbers.index_select(0, sender)
        function = SEGMENTS[reduce] if isinstance(reduce, str) else reduce
        values = function(messages, offset, sender) if _parameters(function) != 2 else function(messages, offset)
        for each in values if isinstance(values, tuple) else (values,):
            _checked(each, len(offset) - 1, "reduce", "one value for each vertex")
        return Received(values, vertices)

    def values(part: Subgraph) -> Tensor:
        return received(part).values

    if sub.mode == "push":
        found = map(received, _parts(sub, whole_rows))
        return next(found) if reduction is None else by_rows.together(found, sub, reduction)
    pulled = []
    for part in _parts(sub):
        again = torch.is_grad_enabled() and part is not sub
        pulled.append(checkpoint(values, part, use_reentrant=False) if again else values(part))
    return Received(tree_map(lambda *each: torch.cat(each), *pulled), sub.rows)


def sends_arc_data(sub: Subgraph, reduce: str, weights: Any) -> bool:
    """Whether data of the arcs of a graph in a layout is read along the rows of the senders, in the order of which it
    is: those of the receivers would need all arcs at once.

    >>> graph = tg.generators.path(3).to_format("elias_fano")
    >>> sub = tg.Program().tensorize(graph, graph.everything(), "pull")
    >>> tg.model.edge_functions.sends_arc_data(sub, "sum", torch.ones(4))
    True
    """
    is_whole = sub.is_whole and sub.mirrored and sub.active.is_everything and sub.graph.layout is not None
    return is_whole and reduce in ("sum", "mean") and (is_per_arc(weights) or isinstance(weights, (list, tuple)))


def _sent(sub: Subgraph, data: Data, reduction: Reduction, edge: Any, weights: Any, dtype: Any) -> Tensor:
    """The sum or mean at each vertex of what some rows of senders after others send, [n, ...]."""
    n, kinds = sub.graph.num_vertices, set()

    def sums(part: Subgraph) -> Tensor:
        part = _decoded(part)  # here, so that a backward keeps no arcs
        sender, receiver = _ends(part)
        messages = promoted(
            _converted(_messages(part, data, edge, weights, sender, receiver), dtype), reduction, "copy"
        )
        if reduction.name == "mean" and not messages.is_floating_point():
            messages = messages.to(torch.get_default_dtype())
        kinds.add(messages.dtype)
        return add_at(messages.to(computed_in(messages.dtype)), receiver, n)

    total: Any = None
    for part in _parts(whole(sub.graph, sub.active, "push", sub.backend), few=max(ARCS, n)):
        each = checkpoint(sums, part, use_reentrant=False) if torch.is_grad_enabled() else sums(part)
        total = each if total is None else total + each if each.requires_grad else total.add_(each)
    if reduction.name == "mean":
        total = total / column(sub.graph.in_degree.clamp(min=1), total)
    return total.to(*kinds)


def _on_ranks(
    sub: Subgraph, data: Data, reduce: Any, edge: Any, weights: Weights, dtype: torch.dtype | None
) -> Received:
    """The same on the arcs of this rank: own vertices receive, from these and from the mirrors of others."""
    layout = spreading.layout_of(receiving(sub))
    layout.check_whole_rows()
    _, received = layout.local_arcs

    def local(values: Tensor) -> Tensor:
        own = values.to_local() if hasattr(values, "to_local") else layout.own(values)  # a gradient flows back
        return layout.with_mirrors(own)

    active = received.everything()
    if not sub.active.is_everything:
        active = received.select(local(sub.active.mask.to(torch.uint8)).bool())
    held = {name: local(each) for name, each in data.items()} if isinstance(data, dict) else local(data)
    if edge != "copy" and (isinstance(weights, dict) or is_per_arc(weights)):
        number = layout.numbers_of_local_arcs(receive_in_transpose(sub))
        weights = tree_map(lambda each: take(each, number), weights)
    part = Subgraph(received, active, "pull", None, received.selection(), mirrored=False)
    values = aggregate(part, held, reduce, edge, weights, dtype, layout.numbers).values
    return Received(tree_map(lambda each: layout.spread(each[: layout.part.num_own]), values))


def _ends(part: Subgraph) -> tuple[Tensor, Tensor]:
    """The sender and the receiver of each arc, [e]."""
    near, far = part.row_of_arc, part.neighbors
    near = near if part.rows is None else part.rows.index_select(0, near)
    return (far, near) if part.mode == "pull" else (near, far)


def _segments(part: Subgraph) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Arcs from active vertices by their receivers: (sender [e], receiver [e], offset [k + 1], order, vertices [k]).
    `order` : which of the arcs held these are, None for all; `vertices` : None for all rows of a pull."""
    sender, receiver = _ends(part)
    if part.mode == "pull":
        if part.active_mask is None:
            return sender, receiver, part.offset, None, part.rows
        order = part.active_mask.index_select(0, sender).nonzero()[:, 0]
        counts = torch.bincount(part.row_of_arc.index_select(0, order), minlength=len(part.offset) - 1)
        offset = offset_of(counts)
        return sender.index_select(0, order), receiver.index_select(0, order), offset, order, part.rows
    vertices, slot, size = receivers_of(part)
    _, by_sender = devices.sort(sender)  # as in a pull, in whichever order the frontier is
    slot, order = devices.sort(slot.index_select(0, by_sender))
    order = by_sender.index_select(0, order)
    offset = torch.searchsorted(slot, torch.arange(size + 1, device=slot.device))
    return sender.index_select(0, order), receiver.index_select(0, order), offset, order, vertices


def _messages(
    part: Subgraph, data: Data, edge: Any, weights: Any, sender: Tensor, receiver: Tensor, order: Tensor | None = None
) -> Tensor:
    """The messages of arcs, [e, ...]."""
    arc = None
    if edge != "copy" and _parameters(edge) != 2:
        arc = _arc_data(part, weights)
        if order is not None and (isinstance(arc, dict) or (isinstance(arc, Tensor) and arc.dim())):
            arc = _at(arc, order)
    if isinstance(edge, str):
        return across(_at(data, sender), edge, arc)
    ends = _at(data, sender), _at(data, receiver)
    messages = edge(*ends) if _parameters(edge) == 2 else edge(*ends, arc)
    return _checked(messages, len(sender), "edge", "one message for each arc it is given")


def _converted(messages: Tensor, dtype: torch.dtype | None) -> Tensor:
    return messages if dtype is None else messages.to(dtype)


def _parts(sub: Subgraph, at_once: bool = False, few: int = ARCS) -> Iterator[Subgraph]:
    """Some rows of a subgraph after others, of at most so many arcs where these fit, or all rows at once."""
    if sub.graph.layout is None and (at_once or sub.num_arcs <= few):
        yield sub
        return
    most = few if sub.graph.layout is None else min(few, sub.graph.layout.arcs_at_once)
    most = sub.graph.num_arcs if at_once else most
    graph = sub.graph.transpose_unchecked() if sub.mirrored else sub.graph
    for rows, _ in parts(graph, sub.rows, most):
        yield replace(sub, rows=rows, selection=graph.selection(rows))


def _decoded(part: Subgraph) -> Subgraph:
    """The same with the arcs of a layout as a structure of their own."""
    if not isinstance(part.selection, LayoutSelection):
        return part
    graph: Any = part.selection.graph
    return replace(part, selection=Decoded(graph.selection(part.rows)))


def _at(data: Data, index: Tensor) -> Any:
    if isinstance(data, dict):
        return {name: take(each, index) for name, each in data.items()}
    return take(data, index)


def _arc_data(part: Subgraph, weights: Any) -> Any:
    """The given data of the arcs of a part, by name for several, or else the graph's weights, None without any."""
    if isinstance(weights, dict):
        return {name: part.arc_data(each) for name, each in weights.items()}
    if isinstance(weights, Tensor) and weights.dim():
        return part.arc_data(weights)
    return part.weights() if weights is None else weights


def _checked(values: Any, count: int, argument: str, what: str) -> Tensor:
    if not isinstance(values, Tensor) or values.shape[:1] != (count,):
        found = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
        raise ArgumentError(f"{argument}: the function must return {what}, [{count}, ...], got {found}")
    return values


def _parameters(function: Any) -> int | None:
    """The number of parameters without a default of a function, None where it does not say."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return None
    bound = getattr(function, "__self__", None) is not None
    return int(code.co_argcount) - len(getattr(function, "__defaults__", None) or ()) - bound
