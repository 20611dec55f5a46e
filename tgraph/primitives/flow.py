"""Maximum flow from one vertex to another, and the minimum cut of a whole graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.flow import global_cut as cuts
from tgraph.kernels.operators.flow import max_flow as operators
from tgraph.primitives import implicit
from tgraph.primitives import weights as kinds
from tgraph.primitives.paths.shortest_paths import LARGEST_SUM, check_sums
from tgraph.primitives.simple_graph import refuse_directed


def max_flow(
    graph: Graph,
    source: int,
    target: int,
    *,
    weighted: bool = True,
    flow: bool = False,
    source_side: bool = False,
    backend: str = "auto",
) -> tuple[Any, Tensor | None, Tensor | None]:
    """(value, flow, source_side) of a maximum flow from `source` to `target`; the last two only where asked for.

    `weighted` takes graph.weights as capacities, otherwise, and without weights, every arc can carry 1. The `flow` of
    each stored arc is [m], int64 or float64; an edge of an undirected graph carries its flow on one of its two arcs.
    `source_side`, bool [n], marks the vertices that cannot reach the target any more: what leaves them is a minimum
    cut. `backend` names the kernels. Raises ArgumentError for a capacity that is negative, NaN or rounded away in the
    sum of all, a path of infinite ones, and equal ends.

    Where the weights require gradients, the value is a tensor [] with that of the weights of the minimum cut.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 2, 2, 4])
    >>> tg.primitives.flow.max_flow(graph, 0, 3, source_side=True)
    (4, None, tensor([ True,  True, False, False]))
    """
    graph = graph.decoded()
    source, target = int(graph.as_vertices(source, "source")), int(graph.as_vertices(target, "target"))
    if source == target:
        raise ArgumentError(f"target: {target} is the source; a flow goes from one vertex to another")
    weighted = weighted and graph.weights is not None
    if weighted and implicit.is_recorded(graph.weights):
        find = partial(max_flow, source=source, target=target, flow=flow, source_side=True, backend=backend)
        value, carried, side = _with_cut(graph, find)
        return value, carried, side if source_side else None
    if weighted:
        kinds.check(graph, "lengths", "capacities")
        check_sums(graph)
        _check_total(graph)
    floating = weighted and graph.weights is not None and graph.weights.is_floating_point()
    dtype = torch.float64 if floating else torch.int64
    carried = torch.zeros(graph.num_arcs, dtype=dtype, device=graph.device) if flow else None
    side = torch.empty(graph.num_vertices, dtype=torch.bool, device=graph.device) if source_side else None
    value = operators.max_flow.with_backend(backend)(graph, source, target, carried, side, weighted)
    if value == torch.inf:
        raise ArgumentError("weights: a path from source to target has infinite capacities only; the flow has no limit")
    return value, carried, side


def _with_cut(graph: Graph, find: Callable[[Graph], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What `find` returns for the graph without gradients, ending with the side of a cut, [n], with the value as the
    weights of the arcs from this side (the value is the least of all cuts: Danskin's theorem)."""
    weights = graph.weights
    found: list[Any] = []

    def solve(weights: Tensor) -> tuple[Tensor, ...]:
        found[:] = find(graph.weighted_by(weights))
        row = graph.to_edge_index()[0]
        return found[-1][row] & ~found[-1][graph.neighbors], *(each for each in found if isinstance(each, Tensor))

    assert weights is not None
    crossing, *tensors = implicit.without_gradient(solve, weights)
    held = iter(tensors)
    _, *rest = found
    return torch.where(crossing, weights, 0).sum(), *(next(held) if isinstance(each, Tensor) else each for each in rest)


def _check_total(graph: Graph) -> None:
    """Raise ArgumentError where integer capacities that add up might not fit int64, and where the least of floating
    ones, 0 aside, is rounded away in the sum of the finite ones: excess that returns to the source would take it
    along."""
    assert graph.weights is not None
    if graph.weights.is_floating_point():
        _refuse_rounded_away(graph, graph.weights.detach().to(torch.float64))
    elif graph.weight_range[1] * graph.num_arcs >= LARGEST_SUM and (total := sums.total(graph.weights)) >= LARGEST_SUM:
        raise ArgumentError(f"weights: all together are {total}, and their sums may exceed int64; use float64")


def _refuse_rounded_away(graph: Graph, weights: Tensor) -> None:
    finite = (weights > 0) & (weights < torch.inf)
    total = float(weights.where(finite, 0).sum())
    position = int(weights.where(finite, torch.inf).argmin()) if len(weights) else 0
    if total and total + (least := float(weights[position])) == total:
        reason = f"it is rounded away in sums as large as {total}; take integers, or weights nearer in size"
        kinds.refuse(graph, least, position, reason)


def global_cut(graph: Graph, *, weighted: bool = True) -> tuple[Any, Tensor]:
    """(value, side) of a minimum cut of an undirected graph: the weight of the edges between the two sides, and a mask
    of the vertices of one that is not larger than the other, bool [n].

    `weighted` takes graph.weights, otherwise, and without weights, every edge counts 1. Raises ArgumentError for a
    directed graph, fewer than two vertices, a weight that is negative, not finite or rounded away in the sum of all,
    and integer weights whose sum might not fit int64. Where the weights require gradients, the value is a tensor [].

    >>> tg.primitives.flow.global_cut(tg.generators.lollipop(4, 1))
    (1, tensor([False, False, False, False,  True]))
    """
    refuse_directed(graph)
    if graph.num_vertices < 2:
        raise ArgumentError(f"graph: a cut has two sides, the graph {graph.num_vertices} vertices")
    graph.ensure_valid()
    graph = graph.decoded()
    weights = graph.weights if weighted else None
    if implicit.is_recorded(weights):
        value, side = _with_cut(graph, global_cut)
        return value, side
    if weights is not None:
        remedy = "drop such arcs, replace their weights, or merge the ends of infinite ones by quotient_graph"
        kinds.check(graph, "measures", "cuts", remedy)
        _check_total(graph)
    else:
        weights = torch.ones(graph.num_arcs, dtype=torch.int64, device=graph.device)
    dtype = torch.float64 if weights.is_floating_point() else torch.int64
    value, side = cuts.global_cut(graph.offset, graph.neighbors, weights.detach().to(dtype))
    if 2 * int(side.sum()) > graph.num_vertices:
        side = ~side
    return value, side
