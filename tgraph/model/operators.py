"""The five graph operators of the tensor-centric model (TGraph, SIGMOD 2025, sections 4.2 and 4.4).

    vertex_select    which vertices are active
    neighbor_select  where their arcs are stored
    reconstruct      those arcs as a Subgraph
    aggregate        reduce what neighbours send
    update           write what was received, and find out who is active next

TENSORIZE is the first three, COMPUTE the last two. All are pure functions on tensors; `update` alone may write into
the vertex data it is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NoReturn, cast, overload

import torch
from torch import Tensor

from tgraph.core.building import memory
from tgraph.core.columns import NONE
from tgraph.core.csr import Csr
from tgraph.core.derived_graphs import with_weights
from tgraph.core.dispatch import LAYOUT
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Mode, Received, Subgraph, arc_weights, of_transpose, whole
from tgraph.core.system.library import in_functorch, is_plain, needs_grad
from tgraph.errors import ArgumentError
from tgraph.kernels import check_backend, choose, exactness, find
from tgraph.kernels.autograd import differentiable, eager
from tgraph.kernels.call import Call
from tgraph.kernels.layout import aggregation as layout
from tgraph.kernels.layout import by_rows, spreading
from tgraph.kernels.messages import is_per_arc
from tgraph.kernels.operators.changes import are_vertices
from tgraph.kernels.operators.values import differs, write_changed
from tgraph.kernels.reductions import REDUCTIONS, Reduction, check_edge_operation, reduction_of
from tgraph.model import edge_functions
from tgraph.model.segments import EMPTY, SEGMENTS

DTYPES = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
DTYPES |= {torch.float16, torch.bfloat16, torch.float32, torch.float64}
WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64}

# Data of arcs: [m], [m, ...], a number for all of them, the name of a column of the graph, or several names.
Weights = Tensor | float | str | Sequence[str] | None

# The backend that a run was asked for, by name: aggregates over whole graphs in its COMPUTE use it as well.
running_on: ContextVar[str] = ContextVar("running_on", default="auto")


def backend_by_name() -> str:
    """The backend that a run or a layer was asked for, "auto" without one, and where torch.compile or torch.func trace.

    >>> tg.model.operators.backend_by_name()
    'auto'
    """
    return "auto" if torch.compiler.is_compiling() or in_functorch() else running_on.get()


def vertex_select(graph: Graph, active: Frontier | Tensor) -> Tensor | None:
    """The `active` vertices, or those of a mask, as indices int64 [k]; None for all, which are never written out.

    >>> graph = tg.generators.path(4)
    >>> tg.vertex_select(graph, graph.select([0, 2])), tg.vertex_select(graph, graph.everything())
    (tensor([0, 2]), None)
    """
    active = frontier_of(graph, active)
    _check_frontier(graph, active)
    return None if active.is_everything else active.ids


def neighbor_select(
    graph: Graph, vertices: Tensor | None, *, num_arcs: int | None = None, width: int | None = None
) -> Selection:
    """(offset [k + 1], neighbors [e], positions [e]) of the rows of `vertices` [k] (paper, Algorithm 4).

    `positions` says where each arc is stored, for the data of arcs. For all vertices (None) these are the stored
    tensors, with no copy, and positions is None. `num_arcs`, where e is known, spares a device-to-host read;
    `width` takes at most so many arcs of each row, the first ones. Costs O(k + e), once a tensor is asked for.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
    >>> offset, neighbors, positions = tg.neighbor_select(graph, torch.tensor([0, 2]))
    >>> offset, neighbors, positions
    (tensor([0, 2, 3]), tensor([1, 2, 0], dtype=torch.int32), tensor([0, 1, 3]))
    """
    graph.ensure_valid()
    if vertices is not None and not torch.compiler.is_compiling():
        _check_vertices(graph, memory.readable(vertices, "vertices"))
    return graph.selection(vertices, width=width, num_arcs=num_arcs)


def _check_vertices(graph: Graph, vertices: Tensor) -> None:
    """Raise ArgumentError for what is no vertex: kernels follow them."""
    if vertices.dim() != 1 or vertices.dtype not in (torch.int32, torch.int64):
        raise ArgumentError(f"vertices: expected indices [k], got {vertices.dtype} {list(vertices.shape)}")
    if not vertices.is_cpu or not are_vertices(vertices, graph.num_vertices):
        graph.as_vertices(vertices)


def reconstruct(
    graph: Graph, active: Frontier | Tensor, vertices: Tensor | None, selection: Selection, mode: Mode = "push"
) -> Subgraph:
    """The rows `selection` of the `vertices`, None for all, as a Subgraph in which the `active` vertices send.

    `mode` says whose rows they are: in a "push" those of `graph`, in a "pull" those of `graph.transpose()`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> active = graph.select(0)
    >>> vertices = tg.vertex_select(graph, active)
    >>> sub = tg.reconstruct(graph, active, vertices, tg.neighbor_select(graph, vertices))
    >>> tg.aggregate(sub, torch.tensor([7, 8, 9])).values
    tensor([7, 7])
    """
    return Subgraph(graph, frontier_of(graph, active), mode, vertices, selection, mirrored=mode == "pull")


@overload
def aggregate(
    sub: Subgraph,
    data: Tensor | dict[str, Tensor],
    reduce: str | Callable[..., Tensor] = ...,
    *,
    edge: str | Callable[..., Tensor] = ...,
    weights: Weights = ...,
    dtype: torch.dtype | None = ...,
    backend: str | None = ...,
) -> Received: ...
@overload
def aggregate(
    sub: Graph,
    data: Tensor | dict[str, Tensor],
    reduce: str | Callable[..., Tensor] = ...,
    *,
    edge: str | Callable[..., Tensor] = ...,
    weights: Weights = ...,
    dtype: torch.dtype | None = ...,
    backend: str | None = ...,
) -> Tensor: ...


def aggregate(
    sub: Subgraph | Graph,
    data: Tensor | dict[str, Tensor],
    reduce: str | Callable[..., Tensor] = "sum",
    *,
    edge: str | Callable[..., Tensor] = "copy",
    weights: Weights = None,
    dtype: torch.dtype | None = None,
    backend: str | None = None,
) -> Received | Tensor:
    """Reduce, for every receiving vertex, the messages of its active in-neighbours (paper, Algorithm 5).

    Along an arc u -> v of weight w travels `edge`(data[u], w).

    sub : the arcs of this iteration, or a whole Graph, whose every vertex then sends and receives.
    data : [n] or [n, ...], any integer dtype but uint64, or a floating one of at least 16 bits, or bool.
    reduce : "sum", "mean", "min", "max", "prod", "any" or "all". A vertex without messages gets the identity: 0, 1,
        the largest or smallest value of the dtype (infinite where floating), False, True; and 0 for a mean. Slower:
        "count", "var" (of the population), "std", "logsumexp", "median" (the lower one), "first" (in the order of the
        arcs), "bit_or", "bit_and", and "argmin", "argmax": the vertex that sent the first of the best messages, -1 for
        none. `TopK(k)`, the best k messages and who sent them. Or a function(messages [e, ...], offset [k + 1],
        sender [e]), or of the first two, that reduces messages[offset[i]:offset[i + 1]] to row i of its result, a
        tensor or a tuple of tensors.
    edge : "copy" (no weights), "add", "mul", "min" or "max"; or a function(source, target, arc), or of the first two,
        that gives the messages [e, ...] of e arcs from the data at both ends, [e, ...], and the weights [e, ...]. Data
        may then be a dict of tensors, which the function is given as dicts. It is called for some arcs after others,
        and again in a backward. Sums of the integers that it gives are not checked.
    weights : [m] or [m, ...] in the stored order of the graph's arcs, the name of a column of these
        (`Graph.arc_columns`), a number for all of them, or None for the graph's own. A list of names for a function,
        which is then given a dict of tensors [e, ...] as `arc`.
    dtype : what "sum", "mean" and "prod" are computed in and give; float32 data may so be added in float64.
    backend : the kernels, a name as `run` takes it; None for those of the run or the subgraph.

    Returns a tensor [n, ...] for a Graph, and for a Subgraph what was `Received` and by whom. "any" and "all" give
    bool, the sum and product of integers and bools int64, the mean of integers is floating. Differentiable in
    floating data and weights, as often as one likes, where torch.compile(fullgraph=True) traces it too: for a Graph.
    Of a graph that is spread over ranks the data may be that of the rank's own vertices, [k, ...]; so is the result.
    `weights` are then in the order of the arcs of the graph that was spread, or of the file, and the same on all ranks;
    the gradient by them is that of the arcs of a rank, and the sum over the ranks that of all.
    Raises ArgumentError for data of another length, unknown names, weights that are missing or do not fit, and for
    integers whose messages or sums do not fit their dtype; not where torch.compile or a transform traces it.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [2, 2, 0], [0.5, 2.0, 1.0])
    >>> x = torch.tensor([10.0, 20.0, 30.0])
    >>> tg.aggregate(graph, x)
    tensor([30.,  0., 30.])
    >>> tg.aggregate(graph, x, "max", edge="mul")
    tensor([30., -inf, 40.], dtype=torch.float64)
    >>> tg.aggregate(graph.with_columns(arcs={"fare": [3, 4, 5]}), x, "max", edge="add", weights="fare")
    tensor([35., -inf, 24.])
    """
    if isinstance(sub, Graph) and sub.storage.is_distributed:
        with cast(Any, sub.layout).calling("aggregate"):
            return _dispatched(sub, sub, data, reduce, edge, weights, dtype, backend)
    graph = sub if isinstance(sub, Graph) else sub.graph
    return _dispatched(sub, graph, data, reduce, edge, weights, dtype, backend)


def _dispatched(
    sub: Subgraph | Graph,
    graph: Graph,
    data: Tensor | dict[str, Tensor],
    reduce: str | Callable[..., Tensor],
    edge: str | Callable[..., Tensor],
    weights: Weights,
    dtype: torch.dtype | None,
    backend: str | None,
) -> Received | Tensor:
    """`aggregate` along the arcs of a graph, or of a part of it."""
    if backend is not None:
        check_backend(backend)
    if isinstance(weights, str):
        weights = graph.arc_columns.number(weights, "weights")
    if isinstance(weights, (list, tuple)):
        if isinstance(edge, str):
            raise ArgumentError(f"weights: edge={edge!r} takes the data of one column, got the names {list(weights)}")
        weights = cast(Any, {name: graph.arc_columns.number(name, "weights") for name in weights})
    if type(reduce) is not str or reduce not in REDUCTIONS or not isinstance(edge, str) or not isinstance(data, Tensor):
        return _by_function(sub, data, reduce, edge, weights, dtype, backend)
    if graph.storage.is_distributed and edge != "copy" and is_per_arc(weights):
        sub, weights = _with_own_weights(sub, data, edge, weights)
    if isinstance(sub, Graph) and sub.storage.is_distributed:
        received = spreading.layout_of(sub).aggregate(sub, data, reduce, edge, weights, dtype)
        return _aggregate(sub, data, reduce, edge, weights, dtype, backend) if received is None else received
    return _aggregate(sub, data, reduce, edge, weights, dtype, backend)


def _aggregate(
    sub: Subgraph | Graph,
    data: Tensor,
    reduce: str,
    edge: str,
    weights: Any,
    dtype: torch.dtype | None,
    backend: str | None,
) -> Received | Tensor:
    if torch.compiler.is_compiling():
        differentiable.prepare(sub if isinstance(sub, Graph) else sub.graph, edge != "copy")
    elif isinstance(sub, Graph) and dtype is None and backend is None and running_on.get() == "auto":
        received = _at_once(sub, data, reduce, edge, weights)
        if received is not None:
            return received
    if isinstance(data, Tensor) and data.dtype in WIDER:
        return _unsigned(sub, data, reduce, edge, weights, dtype, backend)
    selected = _selected(sub, backend)
    if edge != "copy" and _sends_arc_data(selected, data, reduce, weights):
        _checked_call(whole(selected.graph, selected.active, "push"), data, reduce, edge, weights, dtype)
        given = edge_functions.aggregate(selected, data, reduce, edge, weights, dtype)
        return given.values if isinstance(sub, Graph) else given
    call = _checked_call(selected, data, reduce, edge, weights, dtype)
    if not data.is_floating_point():
        exactness.check(call, weights is None, lambda other: _values(aggregate(sub, other, reduce, dtype=dtype)))
    refused: dict[str, str] = {}
    run: Any = None
    if selected.graph.layout is not None and selected.backend in ("auto", LAYOUT):
        choice = find(LAYOUT, call)  # it records gradients itself
        run, refused = (None, choice.refused) if choice.backend is None else (choice.run, {})
    if run is None and by_rows.supports(call):
        given = by_rows.aggregate(call, refused)
    elif run is None and (by_rows.records(call) or selected.graph.storage.is_distributed):
        given = edge_functions.aggregate(selected, data, reduce, edge, weights, dtype)
    else:
        given = _by_backend(selected, call, run, refused)
    return given.values if isinstance(sub, Graph) else _received(given, selected, reduction_of(reduce))


def _with_own_weights(
    sub: Subgraph | Graph, data: Tensor, edge: str, weights: Tensor
) -> tuple[Subgraph | Graph, Tensor | None]:
    """The same arcs of a graph that is spread over processes with weights [m] of their own, in which messages cross;
    weights of several columns, or that record a gradient, are left to `edge_functions`."""
    arc_weights(_selected(sub, None), data, edge, weights)
    if weights.dim() > 1 or weights.dtype == torch.bool or needs_grad(weights):
        return sub, weights
    if isinstance(sub, Graph):
        return with_weights(sub, weights), None
    return replace(sub, graph=with_weights(sub.graph, weights)), None


def _sends_arc_data(selected: Subgraph, data: Any, reduce: str, weights: Any) -> bool:
    """Whether floating data goes over arcs of a layout whose data is in the order of the senders' rows."""
    if not isinstance(data, Tensor) or not data.is_floating_point() or selected.backend not in ("auto", LAYOUT):
        return False
    traced = torch.compiler.is_compiling() or in_functorch() or selected.graph.storage.is_distributed
    return not traced and edge_functions.sends_arc_data(selected, reduce, weights)


def _by_backend(selected: Subgraph, call: Call, run: Any, refused: dict[str, str]) -> Received:
    """The result of a call by `run`, or by a backend of decoded graphs, with gradients where these are recorded."""
    if run is None:
        call = call.decoded()
        recorded = needs_grad(call.data, call.weights) or (torch.compiler.is_compiling() and not in_functorch())
        if recorded and not call.materialises_messages:
            run = differentiable.aggregate
        else:
            run = choose(selected.backend, call, refused).run
    given: Received = run(selected, call.data, call.reduction, call.edge, call.weights, call.dtype)
    return given


def _by_function(
    sub: Subgraph | Graph,
    data: Any,
    reduce: Any,
    edge: Any,
    weights: Any,
    dtype: torch.dtype | None,
    backend: str | None,
) -> Received | Tensor:
    """`aggregate` of the messages that a function gives, or by a reduction of segments."""
    if not callable(reduce) and not (isinstance(reduce, str) and reduce in SEGMENTS):
        reduction_of(reduce)
    selected = _selected(sub, backend)
    if not callable(edge):
        check_edge_operation(edge)
        _check_data(selected.graph, data)
        if edge != "copy":
            arc_weights(selected, data, edge, weights)
    elif is_per_arc(weights) and len(weights) != selected.graph.num_arcs:
        raise ArgumentError(f"weights: expected [{selected.graph.num_arcs}, ...], got {list(weights.shape)}")
    for each in data.values() if isinstance(data, dict) else (data,):
        _check_data(selected.graph, each)
    given = edge_functions.aggregate(selected, data, reduce, edge, weights, dtype)
    if isinstance(sub, Graph):
        return given.values
    if reduce in REDUCTIONS:
        return _received(given, selected, reduction_of(reduce))
    in_part = given.vertices is None and not selected.active.is_everything
    empty = EMPTY.get(reduce, 0) if isinstance(reduce, str) else math.nan
    return Received(given.values, given.vertices, selected, empty if in_part else None)


def _received(given: Received, selected: Subgraph, reduction: Reduction) -> Received:
    """The values received, with the arcs, and the value of vertices that no active one reaches if there are any."""
    in_part = given.vertices is None and not selected.active.is_everything
    return Received(given.values, given.vertices, selected, reduction.identity(given.values.dtype) if in_part else None)


def _selected(sub: Subgraph | Graph, backend: str | None) -> Subgraph:
    """The arcs of a call, with the backend that the call asks for by name, or the run that it is a part of."""
    if isinstance(sub, Graph):
        return whole(sub, sub.everything(), "pull", backend_by_name() if backend is None else backend)
    return sub if backend is None else replace(sub, backend=backend)


def _unsigned(sub: Subgraph | Graph, data: Tensor, *options: Any) -> Received | Tensor:
    """The aggregate of unsigned integers for which torch has few functions, computed in signed ones."""
    received = _aggregate(sub, data.to(WIDER[data.dtype]), *options)
    if options[0] not in ("min", "max") or options[1] != "copy":
        return received
    if isinstance(received, Tensor):
        return received.to(data.dtype)  # the identity, the least or greatest number, becomes that of the narrower dtype
    return replace(received, values=received.values.to(data.dtype))


def _values(given: Received | Tensor) -> Tensor:
    return given.values if isinstance(given, Received) else given


def _at_once(graph: Graph, data: Tensor, reduce: str, edge: str, weights: Tensor | float | None) -> Tensor | None:
    """The reduction over a whole graph by its layout or by `eager`, None where these do not support it."""
    if not isinstance(data, Tensor) or not data.is_floating_point() or data.dim() not in (1, 2):
        return None
    if graph.layout is not None:
        return layout.at_once(graph, data, reduce, edge) if weights is None else None
    if edge not in ("copy", "mul") or reduce not in eager.REDUCTIONS:
        return None
    if (weights is not None or reduce in ("min", "max")) and eager.gathers_by_degree(data, graph.num_arcs):
        return None
    arcs, by_arc, transposed = graph.kept("pulled", lambda: _pulled(graph)), None, None
    if edge == "mul":
        given = graph.weights if weights is None else weights
        if not isinstance(given, Tensor) or given.shape != (graph.num_arcs,) or given.dtype != data.dtype:
            return None
        if not given.requires_grad and given is graph.weights:
            by_arc = graph.transpose_detached().weights
        elif is_plain(given):
            turned = None if graph.arc_columns is NONE else of_transpose(graph, given)
            by_arc = given.index_select(0, graph.transpose_permutation) if turned is None else turned
        else:
            return None
        transposed = lambda: given  # noqa: E731
    try:
        columns = data if data.dim() == 2 else data.unsqueeze(1)
    except RuntimeError:  # torch makes no view of a storage that was cut; what is wrong is said by `_checked_call`
        return None
    empty = reduction_of(reduce).identity(data.dtype) if reduce in ("min", "max") else 0.0
    received = eager.aggregate(arcs, columns, reduce, by_arc, transposed, empty=empty)
    return received if received is None or data.dim() == 2 else received.squeeze(1)


def _pulled(graph: Graph) -> Csr:
    """The arcs of a graph by where they lead."""
    sub = whole(graph, graph.everything(), "pull")
    arcs = Csr.unchecked(sub.offset, sub.neighbors, None, graph.num_vertices)
    arcs.set_transpose(graph.offset, graph.neighbors)
    return arcs


def explain(
    sub: Subgraph | Graph,
    data: Tensor,
    reduce: str = "sum",
    *,
    edge: str = "copy",
    weights: Tensor | float | str | None = None,
    dtype: torch.dtype | None = None,
) -> str:
    """Which backend serves an `aggregate` of these arguments, and why those that would be faster do not.

    sub, data, reduce, edge, weights, dtype : as `aggregate` takes them. Nothing is computed.
    Raises ArgumentError where `aggregate` does.

    >>> graph = tg.generators.star(3)
    >>> tg.explain(graph, torch.ones(4))
    'aggregate: ... serves it...'
    """
    selected = whole(sub, sub.everything(), "pull") if isinstance(sub, Graph) else sub
    return str(choose(selected.backend, _checked_call(selected, data, reduce, edge, weights, dtype)))


def _checked_call(
    sub: Subgraph, data: Tensor, reduce: str, edge: str, weights: Tensor | float | str | None, dtype: torch.dtype | None
) -> Call:
    """Check the arguments of `aggregate`; the call has the weights of the arcs held."""
    reduction = reduction_of(reduce)
    check_edge_operation(edge)
    _check_data(sub.graph, data)
    memory.check_data(data, "data")
    if isinstance(weights, Tensor):
        memory.check_data(weights, "weights")
    if dtype is not None and reduction.name not in ("sum", "mean", "prod"):
        raise ArgumentError(f"dtype: {reduce!r} keeps the dtype of its data; dtype= is for sum, mean and prod")
    if isinstance(weights, int) and not data.is_floating_point() and not -(2**63) <= weights < 2**63:
        raise ArgumentError(f"weights: {weights} does not fit torch.int64; give a float, or data in torch.float64")
    held = arc_weights(sub, data, edge, weights)
    return Call("aggregate", data, reduction, edge, held, dtype=dtype, sub=sub)


def update(
    values: Tensor,
    active: Frontier | Tensor,
    received: Received,
    function: Callable[..., Tensor] | None = None,
) -> tuple[Tensor, Frontier]:
    """Write `function(old, received)` at the vertices that received, and return (values, who is active next).

    values : [n, ...], the vertex data so far. Written in place where only some vertices received and no gradient is
        recorded, so that the cost follows the frontier; otherwise the result is a new tensor.
    active : the frontier of this iteration, or its mask, bool [n]. While everything is active, everything stays so
        until nothing changes at all (power iterations); otherwise the vertices whose data changed come next.
    function : of the old values [r, ...] and the received ones [r, ...], gives the new ones; by default the received.
        With three parameters it is given the vertices as well, int64 [r], at which to read tensors [n] of one's own. It
        may write into the received values, not into the old ones, which are compared with the new. From a frontier of
        some vertices those are updated that one of them reaches, in a push and in a pull alike; where everything is
        active, all are.

    Raises ArgumentError for other types of arguments, for a function that changes the shape or the old values, and for
    an integer that the vertex data cannot hold.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> received = tg.aggregate(tg.Program().tensorize(graph, graph.select(0), "push"), torch.tensor([3, 9, 1]))
    >>> values, active = tg.update(torch.tensor([3, 9, 1]), graph.select(0), received, torch.minimum)
    >>> values, active.ids
    (tensor([3, 3, 1]), tensor([1]))
    """
    several = isinstance(received, Received) and function is None and isinstance(received.values, tuple)
    if not isinstance(values, Tensor) or not isinstance(received, Received) or several:
        _refuse_update(values, received)
    if not isinstance(active, Frontier):
        active = frontier_of(None if received.sub is None else received.sub.graph, active)
    old = values if received.vertices is None else values.index_select(0, received.vertices)
    new = received.values if function is None else _applied(function, old, received)
    if new.shape != old.shape:
        raise ArgumentError(f"function: must keep the shape {list(old.shape)} of its arguments, gave {list(new.shape)}")
    if not torch.can_cast(new.dtype, values.dtype):
        raise ArgumentError(f"function: gave {new.dtype}, which {values.dtype} vertex data cannot hold; convert one")
    new = _narrowed(new, values.dtype, received.vertices)
    if received.vertices is not None and not active.is_everything and _writes_in_place(values, new):
        ids, arcs = write_changed(values, received.vertices, new, active.graph.out_degree)
        return values, Frontier(active.graph, ids=ids, count=(len(ids), arcs))
    changed = differs(new.detach(), old.detach())
    if received.empty is not None and not active.is_everything:
        new, changed = _where_reached(received, old, new, changed)
    if active.is_everything:
        following = active if bool(changed.any()) else active.graph.nothing()
    elif received.vertices is None:
        following = Frontier(active.graph, mask=changed)
    else:
        following = Frontier.compact(active.graph, received.vertices, changed)
    if received.vertices is None:
        return new, following
    if new.requires_grad or values.requires_grad:
        return values.index_copy(0, received.vertices, new), following
    return values.index_copy_(0, received.vertices, new), following


def _writes_in_place(values: Tensor, new: Tensor) -> bool:
    return not values.requires_grad and not new.requires_grad and is_plain(values, new)


def _refuse_update(values: Any, received: Any) -> NoReturn:
    """Raise ArgumentError for other types than those of `update`."""
    if isinstance(values, dict):
        raise ArgumentError("values: update takes one tensor, got a dict; update each of its tensors")
    if not isinstance(values, Tensor):
        raise ArgumentError(f"values: expected the vertex data, a tensor [n, ...], got {type(values).__name__}")
    if isinstance(received, Received):
        raise ArgumentError("function: what was received are several tensors; pass function(old, received)")
    hint = "; aggregate of a whole graph gives a tensor, tg.Received(tensor) wraps it"
    hint = hint if isinstance(received, Tensor) else ""
    raise ArgumentError(f"received: expected what aggregate(sub, ...) gives, got {type(received).__name__}{hint}")


def frontier_of(graph: Graph | None, active: Any) -> Frontier:
    """A frontier, which may be given as a mask, bool [n] (the paper's actMask).

    >>> graph = tg.generators.path(3)
    >>> tg.model.operators.frontier_of(graph, torch.tensor([True, False, True])).ids
    tensor([0, 2])
    """
    if isinstance(active, Frontier):
        return active
    if graph is not None and isinstance(active, Tensor) and active.dtype == torch.bool:
        return graph.select(active)
    raise ArgumentError(f"active: expected a Frontier, or its mask, got {type(active).__name__}; see graph.select")


def _where_reached(received: Received, old: Tensor, new: Tensor, changed: Tensor) -> tuple[Tensor, Tensor]:
    """New values, and who changed, without the vertices that no active one reaches: in a pull they have received the
    identity of the reduction, on which a function may change a value as well."""
    silent = changed
    if received.empty == received.empty:
        is_empty = received.values.eq(received.empty)  # type: ignore[arg-type]
        silent = changed & (is_empty if is_empty.dim() == 1 else is_empty.flatten(1).all(1))
    if received.sub is None or not bool(silent.any()):
        return new, changed
    reached = aggregate(received.sub, torch.ones_like(changed, dtype=torch.float32)).values > 0
    return torch.where(reached.view(-1, *(1,) * (new.dim() - 1)), new, old), changed & reached


def _narrowed(new: Tensor, dtype: torch.dtype, vertices: Tensor | None) -> Tensor:
    """New values in the dtype of the vertex data. Raises ArgumentError for the first integer that it does not hold."""
    held = new.to(dtype)
    if dtype == new.dtype or torch.promote_types(dtype, new.dtype) == dtype or not exactness.is_readable(new):
        return held
    wrong = (held != new).nonzero()
    if len(wrong):
        place = tuple(wrong[0].tolist())
        vertex = place[0] if vertices is None else int(vertices[place[0]])
        raise ArgumentError(
            f"function: gave {new[place].item()} at vertex {vertex}, which {dtype} vertex data cannot hold; let init "
            f"return {new.dtype}"
        )
    return held


def _applied(function: Callable[..., Tensor], old: Tensor, received: Received) -> Tensor:
    """`function(old, received)`, or with the vertices, which must leave the old values as they are."""
    given: tuple[Tensor, ...] = (old, received.values)
    if takes_vertices(function):
        vertices = received.vertices
        given += (torch.arange(len(old), device=old.device) if vertices is None else vertices,)
    if torch.compiler.is_compiling():
        return function(*given)
    version = version_of(old)
    try:
        new = function(old.clone() if version is None else old, *given[1:])
    except (RuntimeError, IndexError) as error:
        got = received.values.shape if isinstance(received.values, Tensor) else old.shape
        if got != old.shape:
            raise ArgumentError(
                f"function: {error}; it is given the old values {list(old.shape)} and what was received, {list(got)}"
            ) from error
        if received.vertices is None:
            raise
        raise ArgumentError(
            f"function: {error}; in a push it is given the rows of the {len(old)} vertices that received: take "
            "function(old, received, vertices), and tensors [n] of your own at [vertices]"
        ) from error
    if not isinstance(new, Tensor):
        raise ArgumentError(
            f"function: must return the new values, a tensor {list(old.shape)}, got {type(new).__name__}"
        )
    if version is not None and version_of(old) != version:
        raise ArgumentError("function: wrote into its first argument, the old values; return a new tensor")
    return new


def takes_vertices(function: Callable[..., Tensor]) -> bool:
    """Whether a function has three parameters without a default."""
    if isinstance(function, MethodType):
        return _required(function.__func__) == 4
    if isinstance(function, FunctionType):
        return _required(function) == 3
    return isinstance(function, partial) and takes_vertices(function.func) and not function.args


def _required(function: Any) -> int:
    return int(function.__code__.co_argcount) - len(function.__defaults__ or ())


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor was written to, as autograd counts it; None for an inference tensor, which has no counter.

    >>> x = torch.zeros(3)
    >>> before = tg.model.operators.version_of(x)
    >>> x.add_(1)
    tensor([1., 1., 1.])
    >>> tg.model.operators.version_of(x) - before
    1
    """
    return None if tensor.is_inference() else tensor._version


def _check_frontier(graph: Graph, active: Frontier) -> None:
    if active.graph.num_vertices != graph.num_vertices:
        raise ArgumentError(
            f"active: a frontier over {active.graph.num_vertices} vertices does not fit a graph of "
            f"{graph.num_vertices}; make it with graph.select"
        )


def _check_data(graph: Graph, data: Tensor) -> None:
    if not isinstance(data, Tensor):
        raise ArgumentError(f"data: expected a tensor, got {type(data).__name__}; torch.as_tensor makes one")
    if not data.dim() or data.shape[0] != graph.num_vertices:
        raise ArgumentError(
            f"data: expected one row per vertex, [{graph.num_vertices}, ...], got shape {list(data.shape)}"
        )
    if data.is_complex():
        raise ArgumentError(
            f"data: expected an integer, floating or bool dtype, got {data.dtype}; torch.view_as_real(data) has the "
            "two parts as columns"
        )
    if data.dtype not in DTYPES:
        raise ArgumentError(
            f"data: expected int8 to int64, uint8 to uint32, bool, or float16 to float64, got {data.dtype}; use "
            f"data.to({'torch.float32' if data.is_floating_point() else 'torch.int64'})"
        )
    if data.device != graph.device:
        raise ArgumentError(f"data: on {data.device} while the graph is on {graph.device}; use data.to or graph.to")
