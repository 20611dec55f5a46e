"""`advise`: which kernel serves each layer of a model on a graph, what it moves, and what another order of the vertices
or another layout of the arcs would bring."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.devices import cache_bytes
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats import FormattedGraph
from tgraph.nn.accelerated import accelerate
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.conv.layer import MessagePassing
from tgraph.nn.edge_index import adjacency_of
from tgraph.tune.advice import LEVEL, SAMPLE, sampled
from tgraph.tune.arrangements import Timer, check_names, measured_layouts, measured_orders
from tgraph.tune.call_capture import Arguments, layers_of, made_up, seen
from tgraph.tune.findings import Advice, LayerAdvice, numbers, size
from tgraph.tune.profiler import Step, Watch, made_again, median, operations

ORDERS, LAYOUTS = ("degree", "rcm", "community"), ("virtual", "cbm", "sell")

# Each layer is called once for what is kept with the graph, and then so often.
CALLS = 3


def advise(
    model: torch.nn.Module,
    graph: Any,
    x: Any = None,
    *others: Any,
    orders: Sequence[str] = ORDERS,
    layouts: Sequence[str] = LAYOUTS,
    sample: int = SAMPLE,
    timer: Timer | None = None,
) -> Advice:
    """Which kernel serves each layer of a model on a graph, and what it moves; what to do for it to be faster.

    model : made of our layers, of PyTorch Geometric's that `accelerate` replaces, and anything else. It is copied, and
        stays as it is.
    graph : what the model is called with beside the features: a tgraph.Graph, integers [2, E], or a sparse matrix.
    x, others : the model is called as model(x, graph, *others), and each layer then with what it was called with
        there. Where x is None, each is called with random features of as many columns as it takes, those of the first
        without a gradient.
    orders : of the vertices, as `Graph.reorder` calls them, to be measured beside the present one. layouts : of the
        arcs, as `Graph.to_format` calls them, to be built of about `sample` arcs at most. () for none.
    timer : of a function without arguments gives the seconds that a call takes; by default the median of a few calls.

    Every layer is called a few times, in training forward and backward, in evaluation forward alone and without
    gradients, while calls of our operators are watched: the backend named is the one that ran, and the time is that of
    the operator, without the dense parts of the layer. Bytes moved are counted as if there were no cache: a row of what
    is gathered for each arc, m * columns * itemsize, and every other tensor once (`traffic.moved`). Of a graph in a
    layout of its own these are the rows that its compressed rows gather, the layout, and the result.

    Orders are measured by a sum over the whole graph, and by the share of its gathers that miss the second-level cache,
    as `locality.misses` computes it; not where all rows fit that cache, nor where the graph is streamed, or several, or
    not from vertices to themselves.

    Raises ArgumentError for layers that take their columns from an x that is not given, for an unknown order or layout,
    and where the model or a layer does.
    """
    check_names(orders, layouts)
    ours = copy.deepcopy(getattr(model, "_orig_mod", model))  # as it was before torch.compile
    done, layers = accelerate(ours), layers_of(ours)
    with torch.random.fork_rng(_gpus(model)), torch.set_grad_enabled(model.training):
        calls = _calls(ours, layers, graph, x, others)
        found = [_advised(place, *call, place in done.replaced) for place, call in calls.items()]
        uncalled = {place: "the model does not call it" for place in layers if place not in calls}
        advice, square = Advice(tuple(found), done.kept | uncalled), _square(graph, x)
        if square is not None and square.num_edges and any(layer.forward for layer in found):
            advice = _with_orders(advice, square, orders, timer)
            advice = _with_layouts(advice, square, calls, layouts, sample)
    return replace(advice, hints=tuple(_hints(advice, square)))


# ---- the layers -----------------------------------------------------------------------------------------------------


def _calls(
    model: torch.nn.Module, layers: dict[str, MessagePassing], graph: Any, x: Any, others: tuple[Any, ...]
) -> dict[str, tuple[MessagePassing, Arguments]]:
    """{place: (layer, what it is called with)}, of the layers that are called."""
    if x is not None:
        found = seen(model, layers, (x, graph, *others))
        return {place: (layers[place], arguments) for place, arguments in found.items()}
    adjacency = _adjacency(graph) if layers else None
    if layers and adjacency is None:
        raise ArgumentError(f"graph: expected a graph, edges or a sparse matrix, got {type(graph).__name__}; or give x")
    return {
        place: (layer, made_up(place, layer, graph, cast(Adjacency, adjacency), first=not number))
        for number, (place, layer) in enumerate(layers.items())
    }


def _advised(place: str, layer: MessagePassing, arguments: Arguments, theirs: bool) -> LayerAdvice:
    runs = [_watched(layer, arguments) for _ in range(CALLS + 1)][1:]
    forward, backward = (median([run[way] for run in runs]) for way in (0, 1))
    name = type(layer).__name__ + (" of PyG" if theirs else "")
    return LayerAdvice(place, name, arguments.calls, forward, backward)


def _watched(layer: MessagePassing, arguments: Arguments) -> tuple[list[Step], list[Step]]:
    """The calls of our operators in a call of a layer, and for its gradients."""
    with Watch() as forward:
        result = layer(*arguments.args, **arguments.kwargs)
    result = result[0] if isinstance(result, tuple) else result
    others, others_back = made_again(forward.elsewhere)
    if not result.requires_grad:
        return forward.steps + others, []
    wanted = arguments.leaves() + [parameter for parameter in layer.parameters() if parameter.requires_grad]
    with Watch() as backward:
        torch.autograd.grad(result, wanted, torch.ones_like(result), allow_unused=True)
    return forward.steps + others, backward.steps + others_back


def _gpus(model: torch.nn.Module) -> list[int]:
    """Whose random numbers dropout draws."""
    return sorted({parameter.device.index or 0 for parameter in model.parameters() if parameter.is_cuda})


# ---- the graph ------------------------------------------------------------------------------------------------------


def _adjacency(graph: Any, count: int = 0) -> Adjacency | None:
    """The adjacency of a graph, one of edges of `count` vertices or as many as these tell; None of what is several."""
    if isinstance(graph, Graph):
        return GraphAdjacency(graph)
    if isinstance(graph, Tensor) and graph.layout == torch.strided:
        count = max(count, int(graph.max()) + 1 if graph.numel() else 0)
        return adjacency_of(graph, (count, count))
    return adjacency_of(graph, (None, None)) if isinstance(graph, Tensor) or hasattr(graph, "sparse_sizes") else None


def _square(graph: Any, x: Any) -> Adjacency | None:
    """The adjacency whose vertices and arcs can be arranged otherwise, None of any other."""
    if isinstance(graph, Graph) and graph.layout is not None and graph.layout.streams:
        return None
    if not isinstance(x, Tensor) and x is not None:
        return None
    adjacency = _adjacency(graph, 0 if x is None or x.dim() < 2 else x.shape[-2])
    return adjacency if adjacency is not None and adjacency.num_sources == adjacency.num_targets else None


def _along(square: Adjacency) -> Graph:
    """The graph in CSR whose arcs lead from sources to targets."""
    return _in_csr(square.graph if isinstance(square, GraphAdjacency) else square.columns)


def _in_csr(graph: Graph) -> Graph:
    return graph.to_csr() if isinstance(graph, FormattedGraph) else graph


def _with_orders(advice: Advice, square: Adjacency, orders: Sequence[str], timer: Timer | None) -> Advice:
    """The advice with what orders bring to the longest rows that are gathered."""
    steps = [step for layer in advice.layers for step in layer.forward]
    widest = max(steps, key=lambda step: torch.Size(step.shape).numel() * step.dtype.itemsize)
    columns, rows = torch.Size(widest.shape).numel(), square.rows
    advice = replace(advice, columns=columns, dtype=widest.dtype, cache=cache_bytes(rows.device))
    if not orders or _fits(advice, square):
        return advice
    found, refused = measured_orders(_in_csr(rows), columns, widest.dtype, orders, timer)
    return replace(advice, orders=tuple(found), refused=refused)


def _with_layouts(
    advice: Advice,
    square: Adjacency,
    calls: dict[str, tuple[MessagePassing, Arguments]],
    layouts: Sequence[str],
    sample: int,
) -> Advice:
    """The advice with what layouts of the graph, or of a sample of it, bring."""
    part = sampled(_along(square), sample) if layouts else None
    if part is None or not part.num_arcs:
        return advice
    found, refused = measured_layouts(part, calls, layouts)
    return replace(advice, layouts=tuple(found), refused=advice.refused | refused)


def _fits(advice: Advice, square: Adjacency) -> bool:
    """Whether the cache holds all rows, in any order."""
    return square.num_sources * advice.columns * advice.dtype.itemsize <= advice.cache


# ---- what to do -----------------------------------------------------------------------------------------------------


def _hints(advice: Advice, square: Adjacency | None) -> Iterator[str]:
    theirs = [layer.place or "the model" for layer in advice.layers if layer.name.endswith("of PyG")]
    if theirs:
        yield f"accelerate: the kernels above serve {', '.join(theirs)} after tg.nn.accelerate(model)"
    if square is None:
        return
    if advice.columns and _fits(advice, square):
        rows = f"all {square.num_sources:,} rows of {numbers((advice.columns,), advice.dtype)}"
        yield f"order: {rows} fit the {size(advice.cache)} of the cache, and no order brings anything"
    elif advice.orders:
        present, best = advice.orders[0], min(advice.orders, key=lambda each: each.milliseconds)
        gain = present.milliseconds / max(best.milliseconds, 1e-9)
        better = gain > LEVEL and best is not present
        yield (
            f"order: graph.reorder({best.order!r}) makes sums {gain:.2f} times as fast"
            if better
            else (f"order: none makes sums more than {LEVEL - 1:.0%} faster")
        )
    graph = square.graph if isinstance(square, GraphAdjacency) else None
    gathered = 1.0 if graph is None or not square.num_edges else operations(graph) / square.num_edges
    serving = [each for each in advice.layouts if each.serves and each.operations * LEVEL < gathered]
    if serving:
        least = min(serving, key=lambda each: each.operations)
        yield (
            f"layout: graph.to_format({least.layout!r}) gathers {least.operations / gathered:.0%} of the rows for "
            f"{', '.join(least.serves)}; tg.advise(graph, {advice.columns}) times it"
        )
    elif advice.layouts:
        held = None if graph is None else graph.layout
        than = "CSR" if held is None else f"{held.name!r} that the graph has"
        yield f"layout: none spares a tenth of the rows that are gathered in {than}"
