"""`aggregate` where a gradient is recorded or torch.compile traces: as registered operators, on any backend."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.dispatch import is_available
from tgraph.core.graph import Graph
from tgraph.core.owner import set_owner
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.autograd import pull_push
from tgraph.kernels.autograd.segments import take
from tgraph.kernels.messages import Messages, is_per_arc, messages_of
from tgraph.kernels.operators.aggregation.aggregation import scratch_of
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

    A push to all vertices of an undirected graph is a pull: each arc is stored in both directions. One from some rows
    gives the vertices in the order in which they are reached.
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
        set_owner(stored.neighbors, stored)
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
    weights, graph = messages.weights, sub.graph
    arcs, active_mask = _rows(sub), sub.active_mask
    transposed_weights = transpose = inverse_permutation = None
    if active_mask is None and arcs.is_whole and (mirrored or not graph.directed):
        stored = graph.decoded()
        transpose = Csr.unchecked(stored.offset, stored.neighbors, None, stored.num_vertices)
        if weights is not None and own is not None:
            transposed_weights = own.to(weights.dtype).reshape_as(weights)
        elif weights is not None:
            inverse_permutation = stored.transpose_permutation
    if not torch.compiler.is_compiling():
        _set_owner(graph)
        if sub.mirrored and graph.directed:
            _set_owner(graph.transpose_detached())
    name, backend = reduction.name, sub.backend
    if sub.graph.layout is None and saves_argreduce(messages, reduction, backend):
        return pull_push.segment_argreduce(messages.data, arcs, active_mask, name, backend)[0]
    structure = (arcs, active_mask, transpose, inverse_permutation)
    return pull_push.pull(messages.data, weights, transposed_weights, *structure, name, messages.edge, backend)


def saves_argreduce(messages: Messages, reduction: Reduction, backend: str) -> bool:
    """True where the indices of a min or max are computed with it, and not from it in the backward pass: for data with
    enough columns for threads to share them."""
    data = messages.data
    selects = reduction.name in ("min", "max") and not reduction.logical and messages.edge == "copy"
    if not selects or not data.requires_grad or backend not in ("auto", "native"):
        return False
    wide = data.dtype in (torch.float32, torch.float64) and data.shape[1] * data.dtype.itemsize >= 2 * CACHE_LINE
    return wide and data.device.type == "cpu" and _is_compiled()


def _is_compiled() -> bool:
    return is_available("native")


_is_compiled._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _push(sub: Subgraph, messages: Messages, reduction: Reduction) -> tuple[Tensor, Tensor | None]:
    if not torch.compiler.is_compiling():
        _set_owner(sub.graph)
    arcs, backend = _rows(sub), sub.backend
    values = pull_push.push(messages.data, messages.weights, arcs, reduction.name, messages.edge, backend)
    if sub.is_whole:
        return values, None
    reached = sub.neighbors.to(torch.int64)
    vertices = reached[scratch_of(sub).distinct(reached)[0]]
    return take(values, vertices), vertices


def _rows(sub: Subgraph) -> Selection:
    """The selection with rows as operators take them."""
    arcs, rows = sub.selection, sub.rows
    if rows is None or (rows.dtype == torch.int64 and rows.is_contiguous()):
        return arcs
    return Selection(arcs.stored_offset, arcs.stored_neighbors, rows.to(torch.int64).contiguous(), width=arcs.width)


def _set_owner(graph: Graph) -> None:
    """Let operators find the graph by its tensors."""
    stored = graph.decoded()
    set_owner(stored.neighbors, stored)
