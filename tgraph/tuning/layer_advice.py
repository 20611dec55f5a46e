"""Kernels and times of the layers of a model, and the gain by other orders of vertices or layouts of arcs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.core.dispatch import LAYOUT
from tgraph.core.graph import Graph
from tgraph.core.system.devices import cache_bytes
from tgraph.errors import ArgumentError
from tgraph.formats import known
from tgraph.formats.reordering import ORDERS
from tgraph.kernels import watched
from tgraph.nn.accelerated import accelerate
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.conv.layer import MessagePassing
from tgraph.nn.edge_index import adjacency_of
from tgraph.tuning.call_capture import Arguments, captured, layers_of, lazy_layers_of, on_graph, synthetic
from tgraph.tuning.findings import LayerAdvice, ModelAdvice, numbers, size
from tgraph.tuning.layout_advice import DEFAULT_LAYOUTS, LEVEL, SAMPLE, measured_layouts, sampled
from tgraph.tuning.order_advice import DEFAULT_ORDERS, measured_orders
from tgraph.tuning.profiler import Profile, Step, median, replayed
from tgraph.tuning.timing import Timer

RUNS = 3  # of each layer, after a warm-up

LAZY = ", lazy"  # after the class of a layer with lazy messages

Calls = dict[str, tuple[MessagePassing, Arguments]]  # {place in the model: (layer, its arguments)}


def advise_model(
    model: torch.nn.Module,
    graph: Any,
    x: Any = None,
    *others: Any,
    orders: Sequence[str] = DEFAULT_ORDERS,
    layouts: Sequence[str] = DEFAULT_LAYOUTS,
    sample: int = SAMPLE,
    timer: Timer | None = None,
) -> ModelAdvice:
    """`tgraph.advise` of a model."""
    for order in orders:
        check_choice(order, "orders", tuple(ORDERS))
    for layout in layouts:
        known(layout)
    twin = copy.deepcopy(getattr(model, "_orig_mod", model))  # of a compiled model, the original
    done, layers = accelerate(twin), layers_of(twin)
    written = lazy_layers_of(twin)
    if x is not None:
        layers |= written
    gpus = sorted({parameter.device.index or 0 for parameter in model.parameters() if parameter.is_cuda})
    with torch.random.fork_rng(gpus), torch.set_grad_enabled(model.training):
        calls = _calls(twin, layers, graph, x, others)
        kinds = dict.fromkeys(done.replaced, " of PyG") | dict.fromkeys(done.lazy, LAZY)
        found = [_advised(place, *call, kinds.get(place, "")) for place, call in calls.items()]
        uncalled = {place: "the model does not call it" for place in layers if place not in calls}
        kept = done.kept | uncalled | _with_messages(written, x is not None)
        advice, square = ModelAdvice(tuple(found), kept), _square(graph, x)
        if square is not None and square.num_edges and any(layer.forward for layer in found):
            csr = (square.graph if isinstance(square, GraphAdjacency) else square.columns).to_csr()
            advice = _with_widest_gather(advice, csr.device)
            if orders and not _fits(advice, square):
                ordered, refused = measured_orders(csr, advice.columns, advice.dtype, orders, timer)
                advice = replace(advice, orders=ordered, refused=refused)
            if layouts:
                advice = _with_layouts(advice, sampled(csr, sample), calls, layouts, timer)
    return replace(advice, hints=tuple(_hints(advice, square)))


# ---- the layers -----------------------------------------------------------------------------------------------------


def _calls(
    model: torch.nn.Module, layers: dict[str, MessagePassing], graph: Any, x: Any, others: tuple[Any, ...]
) -> Calls:
    """The layers that the model calls; without x, all of them."""
    if x is not None:
        found = captured(model, layers, (x, graph, *others))
        return {place: (layers[place], arguments) for place, arguments in found.items()}
    adjacency = _adjacency(graph) if layers else None
    if layers and adjacency is None:
        raise ArgumentError(f"graph: expected a graph, edges or a sparse matrix, got {type(graph).__name__}; or give x")
    return {
        place: (layer, synthetic(place, layer, graph, cast(Adjacency, adjacency), first=not number))
        for number, (place, layer) in enumerate(layers.items())
    }


def _with_messages(written: dict[str, Any], called: bool) -> dict[str, str]:
    """{place: reason} of the layers with lazy messages that are materialised."""
    if not called:
        return dict.fromkeys(written, "a layer of another class than those of tgraph.nn; give x, its argument")
    made = {place: layer.made_for for place, layer in written.items() if layer.made_for is not None}
    return {place: f"its message materialises messages, for {name}" for place, name in made.items()}


def _advised(place: str, layer: MessagePassing, arguments: Arguments, kind: str) -> LayerAdvice:
    runs = [_profiled(layer, arguments) for _ in range(RUNS + 1)][1:]
    forward, backward = (median([run[way] for run in runs]) for way in (0, 1))
    return LayerAdvice(place, type(layer).__name__ + kind, arguments.calls, forward, backward)


def _profiled(layer: MessagePassing, arguments: Arguments) -> tuple[list[Step], list[Step]]:
    """The operator calls in the forward and the backward pass of a layer."""
    with Profile() as forward:
        result = layer(*arguments.args, **arguments.kwargs)
    result = result[0] if isinstance(result, tuple) else result
    others, others_backward = replayed(forward.unregistered)
    if not result.requires_grad:
        return forward.steps + others, []
    wanted = arguments.leaves() + [parameter for parameter in layer.parameters() if parameter.requires_grad]
    with Profile() as backward:
        torch.autograd.grad(result, wanted, torch.ones_like(result), allow_unused=True)
    return forward.steps + others, backward.steps + others_backward


# ---- the graph ------------------------------------------------------------------------------------------------------


def _adjacency(graph: Any, count: int = 0) -> Adjacency | None:
    """The adjacency of a graph, with at least `count` vertices for an edge_index; None for anything else, such as the
    edge_index of each type in a heterogeneous graph."""
    if isinstance(graph, Graph):
        return GraphAdjacency(graph)
    if isinstance(graph, Tensor) and graph.layout == torch.strided:
        count = max(count, int(graph.max()) + 1 if graph.numel() else 0)
        return adjacency_of(graph, (count, count))
    return adjacency_of(graph, (None, None)) if isinstance(graph, Tensor) or hasattr(graph, "sparse_sizes") else None


def _square(graph: Any, x: Any) -> Adjacency | None:
    """The adjacency, if its vertices can be reordered and its arcs stored in another layout, else None."""
    if isinstance(graph, Graph) and graph.storage.streams:
        return None
    if not isinstance(x, Tensor) and x is not None:
        return None
    adjacency = _adjacency(graph, 0 if x is None or x.dim() < 2 else x.shape[-2])
    return adjacency if adjacency is not None and adjacency.num_sources == adjacency.num_targets else None


def _with_widest_gather(advice: ModelAdvice, device: torch.device) -> ModelAdvice:
    """The advice with the columns and dtype of the longest rows gathered by a layer."""
    steps = [step for layer in advice.layers for step in layer.forward]
    widest = max(steps, key=lambda step: torch.Size(step.shape).numel() * step.dtype.itemsize)
    columns = torch.Size(widest.shape).numel()
    return replace(advice, columns=columns, dtype=widest.dtype, cache=cache_bytes(device))


def _with_layouts(
    advice: ModelAdvice, graph: Graph, calls: Calls, layouts: Sequence[str], timer: Timer | None
) -> ModelAdvice:
    """The advice with the layouts of a graph in CSR, if at least one layer sums in them."""
    serves: dict[str, tuple[str, ...]] = {}

    def obstacle(held: Graph) -> str | None:
        places = tuple(place for place, call in calls.items() if _sums_in_layout(held, *call))
        if not places:
            return "no layer sums in it"
        serves[cast(Any, held.layout).name] = places
        return None

    found = measured_layouts(graph, advice.columns, advice.dtype, layouts, timer, obstacle)
    return replace(advice, layouts=found, serves=serves)


def _sums_in_layout(held: Graph, layer: MessagePassing, arguments: Arguments) -> bool:
    """True if a layer computes in the layout of a graph without decoding it; False for users' layers."""
    if not isinstance(layer, MessagePassing):
        return False
    moved = on_graph(arguments, layer, held)
    with watched() as choices:
        layer(*moved.args, **moved.kwargs)
    return any(choice.is_by(LAYOUT) for choice in choices)


def _fits(advice: ModelAdvice, square: Adjacency) -> bool:
    """True if the rows of all vertices fit the cache, so that their order does not matter."""
    return square.num_sources * advice.columns * advice.dtype.itemsize <= advice.cache


# ---- recommendations ------------------------------------------------------------------------------------------------


def _hints(advice: ModelAdvice, square: Adjacency | None) -> Iterator[str]:
    replaced = [layer.place or "the model" for layer in advice.layers if layer.name.endswith((" of PyG", LAZY))]
    if replaced:
        yield f"accelerate: the kernels above are those of {', '.join(replaced)} after tg.nn.accelerate(model)"
    if square is None:
        return
    if advice.columns and _fits(advice, square):
        rows = f"all {square.num_sources:,} rows of {numbers((advice.columns,), advice.dtype)}"
        yield f"order: {rows} fit the {size(advice.cache)} of the cache, and no order helps"
    elif advice.orders:
        best = min(advice.orders, key=lambda each: each.milliseconds)
        gain = advice.orders[0].milliseconds / max(best.milliseconds, 1e-9)
        if gain > LEVEL and best is not advice.orders[0]:
            yield f"order: graph.reorder({best.order!r}) makes sums {gain:.2f} times as fast"
        else:
            yield f"order: none makes sums more than {LEVEL - 1:.0%} faster"
    if advice.layouts is not None:
        held = square.graph.layout if isinstance(square, GraphAdjacency) else None
        present, name = "csr" if held is None else held.name, advice.layouts.recommended
        change = "to_csr()" if name == "csr" else f"to_format({name!r})"
        yield f"layout: {f'keep {name!r}' if name == present else f'graph.{change}'}, as recommended above"
