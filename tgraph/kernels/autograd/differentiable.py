"""`aggregate` where a gradient is recorded or torch.compile looks on: as registered operators, on any backend."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.autograd import pull_push
from tgraph.kernels.autograd.segments import take
from tgraph.kernels.messages import Messages, is_per_arc, messages_of
from tgraph.kernels.portable.aggregation import scratch_of
from tgraph.kernels.reductions import Reduction

NARROW = (torch.float16, torch.bfloat16)
CACHE_LINE = 64  # bytes


def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As every backend's `aggregate`, by the operators of `tgraph.kernels.autograd.pull_push`.

    A push to all vertices of an undirected graph is a pull: every arc has its mate. One from some rows gives the
    vertices in the order in which they are reached.
    """
    graph, pulls, mirrored = sub.graph, sub.mode == "pull", sub.mirrored
    per_arc = edge != "copy" and is_per_arc(weights)
    own = _weights_by_both_ends(graph, mirrored, cast(Tensor, weights)) if per_arc else None
    if not pulls and sub.selection.is_whole and not graph.directed:
        if per_arc and own is None:
            weights = cast(Tensor, weights).index_select(0, graph.decoded().transpose_permutation)
        pulls = mirrored = True
    if not pulls and sub.rows is not None:
        data = data.index_select(0, sub.rows)
    messages = messages_of(data, reduction, edge, weights, dtype)
    result = messages.data.dtype
    if result in NARROW and (reduction.name in ("min", "max") or not pulls):  # rounded at the end, not on the way
        messages.data = messages.data.float()
        messages.weights = None if messages.weights is None else messages.weights.float()
    if pulls:
        values, vertices = _pull(sub, mirrored, messages, own, reduction), sub.rows
    else:
        values, vertices = _push(sub, messages, reduction)
    values = values if reduction.logical else values.to(result)
    return Received(values.reshape(len(values), *messages.shape), vertices)


def prepare(graph: Graph, permute: bool) -> bool:
    """Derive what an operator will be given, at once where torch.compile traces: it finds it in the graph's caches.

    permute : whether weights change their order. What is returned means nothing; the compiled code is for this graph.
    """
    for stored in (graph.decoded(), graph.transpose_detached().decoded()):
        stored.ensure_valid()
        pull_push.remember(stored)
        for tensor in (stored.offset, stored.neighbors):  # CUDA graphs replay on them, and not on copies of no graph
            torch._dynamo.mark_static_address(tensor)
    if permute:
        graph.decoded().transpose_permutation  # noqa: B018
    return True


# What torch.compiler.assume_constant_result does; it would also import the compiler, 75 MB of it, for everybody.
prepare._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _weights_by_both_ends(graph: Graph, mirrored: bool, weights: Tensor) -> Tensor | None:
    """The same weights in the order of the arcs' other end, where they are the graph's and change nowhere."""
    if graph.weight_dtype is None or weights.requires_grad:
        return None
    here, there = graph.decoded().weights, graph.transpose_detached().decoded().weights
    here, there = (there, here) if mirrored else (here, there)
    return there if weights is here else None


def _pull(sub: Subgraph, mirrored: bool, messages: Messages, own: Tensor | None, reduction: Reduction) -> Tensor:
    weights, selection, graph = messages.weights, sub.selection, sub.graph
    back_weights = None
    if sub.sends_partly or not selection.is_whole or (graph.directed and not mirrored):
        arcs = pull_push.Arcs(*_held(sub), sub.active.mask if sub.sends_partly else None)
    else:
        permutation = None
        if weights is not None and own is not None:
            back_weights = own.to(weights.dtype).reshape_as(weights)
        elif weights is not None:
            permutation = graph.decoded().transpose_permutation
        stored = graph.decoded()
        arcs = pull_push.Arcs(*_held(sub), None, stored.offset, stored.neighbors, permutation, True)
    if not torch.compiler.is_compiling():
        pull_push.remember(graph)
        if sub.mirrored and graph.directed:
            pull_push.remember(graph.transpose_detached())
    if sub.graph.layout is None and keeps_winners(messages, reduction, sub.backend):
        return pull_push.pull_won(messages.data, *arcs.held, reduction.name, sub.backend)[0]
    return pull_push.pull(messages.data, weights, back_weights, *arcs, reduction.name, messages.edge, sub.backend)


def keeps_winners(messages: Messages, reduction: Reduction, backend: str) -> bool:
    """True where a min or max is to note who won, rather than find it out for the gradient: of data that is wide enough
    for threads to share its columns then."""
    data = messages.data
    selects = reduction.name in ("min", "max") and not reduction.logical and messages.edge == "copy"
    if not selects or not data.requires_grad or backend not in ("auto", "native"):
        return False
    wide = data.dtype in (torch.float32, torch.float64) and data.shape[1] * data.dtype.itemsize >= 2 * CACHE_LINE
    return wide and data.device.type == "cpu" and _is_compiled()


def _is_compiled() -> bool:
    return native.load() is not None


_is_compiled._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _push(sub: Subgraph, messages: Messages, reduction: Reduction) -> tuple[Tensor, Tensor | None]:
    held = (*_held(sub), None)
    if not torch.compiler.is_compiling():
        pull_push.remember(sub.graph)
    values = pull_push.push(messages.data, messages.weights, *held, reduction.name, messages.edge, sub.backend)
    if sub.is_whole:
        return values, None
    reached = sub.neighbors.to(torch.int64)
    vertices = reached[scratch_of(sub).distinct(reached)[0]]
    return take(values, vertices), vertices


def _held(sub: Subgraph) -> tuple[Tensor, Tensor, Tensor | None, int]:
    selection, rows = sub.selection, sub.rows
    width = -1 if selection.width is None else selection.width
    rows = None if rows is None else rows.to(torch.int64).contiguous()
    return selection.stored_offset, selection.stored_neighbors, rows, width
