"""Aggregates of messages that a function of the user gives, from both ends of an arc and its data: DGL's `apply_edges`,
PyTorch Geometric's `message`, the triplets of GraphX. It is called for some arcs after others, so that no tensor has a
row for each arc of a large graph; with gradients it is called again in the backward, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from tgraph.core.rows import Decoded, LayoutSelection
from tgraph.core.subgraph import Received, Subgraph, whole
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.segments import take
from tgraph.kernels.layout import by_rows
from tgraph.kernels.messages import promoted
from tgraph.kernels.operators.aggregation.aggregation import reduce_messages, reduced
from tgraph.kernels.reductions import Reduction

Data = Tensor | dict[str, Tensor]
ARCS = 1 << 18  # of a part


def aggregate(
    sub: Subgraph,
    data: Data,
    reduction: Reduction,
    function: Callable[..., Tensor],
    weights: Tensor | float | None,
    dtype: torch.dtype | None,
) -> Received:
    """The reduction of `function(source, target, arc)`, or of `function(source, target)` for one of two parameters."""
    if sub.graph.layout is not None and sub.graph.layout.is_distributed:
        raise ArgumentError(
            "edge: a function needs both ends of an arc, and those of a graph that is spread over ranks are on "
            "several; name an edge operation, or open the graph on one machine"
        )
    if sub.mode == "push" and sub.is_whole:
        sub = whole(sub.graph, sub.active, "pull", sub.backend)
    takes_arc = _parameters(function) != 2

    def received(part: Subgraph) -> Received:
        near, far = part.row_of_arc, part.neighbors
        near = near if part.rows is None else part.rows.index_select(0, near)
        sender, receiver = (far, near) if part.mode == "pull" else (near, far)
        ends = _at(data, sender), _at(data, receiver)
        messages = function(*ends, _arc_data(part, weights)) if takes_arc else function(*ends)
        _check(messages, len(sender))
        messages = promoted(messages if dtype is None else messages.to(dtype), reduction, "copy")
        return reduced(reduce_messages, part, messages, reduction)

    def values(part: Subgraph) -> Tensor:
        return received(part).values

    if sub.mode == "push":
        return by_rows.together(map(received, _parts(sub)), sub, reduction)
    found = []
    for part in _parts(sub):
        again = torch.is_grad_enabled() and part is not sub
        found.append(checkpoint(values, part, use_reentrant=False) if again else values(part))
    return Received(torch.cat(found), sub.rows)


def _parts(sub: Subgraph) -> Iterator[Subgraph]:
    """Some rows of a subgraph after others."""
    if sub.graph.layout is None and sub.num_arcs <= ARCS:
        yield sub
        return
    most = ARCS if sub.graph.layout is None else min(ARCS, sub.graph.layout.arcs_at_once)
    graph = sub.graph.transpose_unchecked() if sub.mirrored else sub.graph
    for rows, _ in by_rows.parts(graph, sub.rows, most):
        selection = graph.selection(rows)
        if isinstance(selection, LayoutSelection):
            selection = Decoded(selection)
        yield replace(sub, rows=rows, selection=selection)


def _at(data: Data, index: Tensor) -> Any:
    if isinstance(data, dict):
        return {name: take(each, index) for name, each in data.items()}
    return take(data, index)


def _arc_data(part: Subgraph, weights: Tensor | float | None) -> Tensor | float | None:
    """The given data of the arcs of a part, or else the graph's weights, None without any."""
    if isinstance(weights, Tensor) and weights.dim():
        return part.arc_data(weights)
    return part.weights() if weights is None else weights


def _check(messages: Any, count: int) -> None:
    if not isinstance(messages, Tensor) or messages.shape[:1] != (count,):
        found = list(messages.shape) if isinstance(messages, Tensor) else type(messages).__name__
        raise ArgumentError(
            f"edge: the function must return one message for each arc it is given, [{count}, ...], got {found}"
        )


def _parameters(function: Callable[..., Tensor]) -> int | None:
    """How many parameters without a default a function has, None where it does not say."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return None
    bound = getattr(function, "__self__", None) is not None
    return int(code.co_argcount) - len(getattr(function, "__defaults__", None) or ()) - bound
