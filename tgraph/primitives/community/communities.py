"""Moving vertices between communities, and the graph of communities: the steps of Louvain, Leiden and label
propagation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.community import communities as operators
from tgraph.kernels.quotient import Moves, Quotient, SpreadQuotient
from tgraph.primitives import weights as kinds
from tgraph.primitives.edges import in_parts

BATCHES = 32  # of a sweep: fewer have more neighbours choose at once, more leave less to each


def quotient(graph: Graph, *, weighted: bool = False, backend: str = "auto") -> Quotient:
    """The graph as a `Quotient` in which each vertex is a group of its own.

    weighted : arcs count by graph.weights, rounded to multiples of a power of two so small that 2^52 of it exceed their
        sum, so that sums are exact; in units of the largest where squares of them would leave float64.
    backend : a name of the registry.
    Raises ArgumentError for weights that are negative or not finite.

    >>> quotient = tg.primitives.communities.quotient(tg.generators.star(3))
    >>> quotient.out_strength, quotient.total
    (tensor([3., 1., 1., 1.], dtype=torch.float64), 6.0)
    """
    if graph.storage.is_distributed:
        return _spread(graph, weighted)
    weights = exact_weights(graph) if weighted else None
    if weights is not None and not 1e-90 < (unit := kinds.unit(graph)) < 1e90:
        weights = weights / unit  # expectations are products of sums
    arcs = graph.decoded()
    offset, neighbors = arcs.offset.contiguous(), arcs.neighbors.contiguous()
    all_alike = torch.zeros(graph.num_vertices, dtype=torch.int64, device=graph.device)

    def strength(rows: Graph, row_weights: Tensor | None) -> Tensor:
        held = Graph(rows.offset, rows.neighbors, row_weights, directed=graph.directed)
        return operators.sum_inside.with_backend(backend)(held, all_alike, weights is not None)

    leaving = strength(arcs, weights)
    if not graph.directed:
        return Quotient(offset, neighbors, weights, leaving, None, float(leaving.sum()))
    both = Graph(offset, neighbors, weights).to_undirected(multi="keep")
    entering = strength(arcs.transpose(), None if weights is None else weights[arcs.transpose_permutation])
    return Quotient(both.offset, both.neighbors, both.weights, leaving, entering, float(leaving.sum()))


def _spread(graph: Graph, weighted: bool) -> SpreadQuotient:
    if weighted:
        exact, unit = _exactly(graph), kinds.unit(graph)
        scale = 1.0 if 1e-90 < unit < 1e90 else unit
        graph = kinds.reweighted(graph, lambda weights: exact(weights) / scale)
    all_alike = torch.zeros(graph.num_vertices, dtype=torch.int64, device=graph.device)
    leaving = operators.sum_inside(graph, all_alike, weighted)
    total = float(leaving.sum())
    if not graph.directed:
        return SpreadQuotient(graph, weighted, leaving, None, total)
    entering = operators.sum_inside(graph.transpose(), all_alike, weighted)
    return SpreadQuotient(graph.to_undirected(multi="keep"), weighted, leaving, entering, total)


def move(
    graph: Quotient,
    community: Tensor,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    bound: Tensor | None = None,
    batch: Tensor | None = None,
    sweeps: int = 100,
    tolerance: float = 0.0,
    stirred_share: float = 0.0,
    backend: str = "auto",
) -> tuple[Tensor, int]:
    """(the community of each vertex after local moving, int64 [n]; the number of moves).

    A vertex moves to the community C of a neighbour for which weight(v, C) - resolution * expected(v, C) is largest, if
    it is larger than for its own; expected is that of the null model of modularity. Of equals one is drawn. With
    resolution 0 this is label propagation: all vertices draw the same one of equals, and their own is among them. Every
    vertex is visited, and again after more than the `stirred_share` of its arcs lead to vertices that moved since: a
    hub need not be asked for each neighbour. In each of at most so many `sweeps` the vertices to visit are dealt into
    batches by a hash; those of a batch move at once. It ends once at most the share `tolerance` of the vertices moves
    in a sweep.

    community : int64 [n], from 0 to n - 1; a vertex alone in community v is v, or community v is empty of others.
    bound : int64 [n], groups that no vertex leaves: the refinement of Leiden. Only vertices that are alone in their
        community move, and none that leaves others behind, so that communities are connected, if they begin alone. A
        vertex whose arcs within its group weigh less than expected stays.
    batch : int64 [n], from 0: the batch of each vertex instead of the hash's, where no two neighbours share one. Of
        equal communities the one with the largest number is taken then.
    resolution, backend : see above, and a name of the registry.
    The result depends on the `seed`, not on the number of threads. O(m) each sweep, in which all are visited. On ranks
    this is label propagation alone, with resolution 0 and without `bound`.

    >>> from tgraph.primitives import communities
    >>> graph = communities.quotient(tg.generators.barbell(4, 0))
    >>> community, moves = communities.move(graph, torch.arange(8))
    >>> communities.number(community)[0]
    tensor([0, 0, 0, 0, 1, 1, 1, 1])
    """
    _check_groups(graph, "community", community, graph.num_vertices)
    if bound is not None:
        _check_groups(graph, "bound", bound, graph.num_vertices)
    batches = BATCHES
    if batch is not None:
        _check_groups(graph, "batch", batch, graph.num_vertices)
        batches = int(batch.max()) + 1 if len(batch) else 1
    scale = resolution / graph.total if graph.total else 0.0
    moves = Moves(scale, random.key(seed), sweeps, batches, tolerance, stirred_share)
    return operators.move_vertices.with_backend(backend)(graph, community, bound, batch, moves)


def contract(graph: Quotient, group: Tensor, count: int, *, backend: str = "auto") -> Quotient:
    """The graph of groups: an arc weighs what the arcs from one group to the other do; those inside have none.

    group : int64 [n], from 0 to `count` - 1. backend : a name of the registry. O(n + m).

    >>> from tgraph.primitives import communities
    >>> graph = communities.quotient(tg.generators.barbell(3, 0))
    >>> groups = communities.contract(graph, torch.tensor([0, 0, 0, 1, 1, 1]), 2)
    >>> groups.neighbors, groups.weights, groups.out_strength
    (tensor([1, 0], dtype=torch.int32), tensor([1., 1.], dtype=torch.float64), tensor([7., 7.], dtype=torch.float64))
    """
    _check_groups(graph, "group", group, count)
    offset, neighbors, weights = operators.contract_groups.with_backend(backend)(graph, group, count)

    def summed(strength: Tensor) -> Tensor:
        return strength.new_zeros(count).index_add_(0, group, strength)

    entering = None if graph.in_strength is None else summed(graph.in_strength)
    return Quotient(offset, neighbors, weights, summed(graph.out_strength), entering, graph.total)


def gain(graph: Quotient, before: Tensor, after: Tensor, *, resolution: float = 1.0, backend: str = "auto") -> float:
    """How much more modularity communities `after` have than those `before`, both int64 [n], from 0 to n - 1.

    resolution : how much the expected part counts. backend : a name of the registry. 0 without arcs. O(m).

    >>> from tgraph.primitives import communities
    >>> graph = communities.quotient(tg.generators.barbell(3, 0))
    >>> round(communities.gain(graph, torch.zeros(6, dtype=torch.int64), torch.tensor([0, 0, 0, 3, 3, 3])), 3)
    0.357
    """
    if not graph.total:
        return 0.0
    _check_groups(graph, "before", before, graph.num_vertices)
    _check_groups(graph, "after", after, graph.num_vertices)
    entering = graph.out_strength if graph.in_strength is None else graph.in_strength
    both_ways = 1.0 if graph.in_strength is None else 2.0  # an arc of a directed graph is stored as two

    def modularity(community: Tensor) -> float:
        held = Graph(graph.offset, graph.neighbors, graph.weights)
        inside = operators.sum_inside.with_backend(backend)(held, community, graph.weights is not None).sum()
        leave, enter = (
            torch.zeros_like(each).index_add_(0, community, each) for each in (graph.out_strength, entering)
        )
        expected = (leave / graph.total * (enter / graph.total)).sum()
        return float(inside) / both_ways / graph.total - resolution * float(expected)

    return modularity(after) - modularity(before)


def number(label: Tensor, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """(the number of each vertex's group, int64 [n]; the first vertex of each group, int64 [k]).

    label : int64 [n], from 0 to n - 1, equal for those of a group. Groups are numbered by their first vertices.
    backend : a name of the registry.
    Raises ArgumentError for labels out of that range.

    >>> tg.primitives.communities.number(torch.tensor([2, 2, 0, 2]))
    (tensor([0, 0, 1, 0]), tensor([0, 2]))
    """
    _check_range("label", label, len(label))
    return operators.number_groups.with_backend(backend)(label)


def inside(graph: Graph, group: Tensor, *, weighted: bool = False, backend: str = "auto") -> Tensor:
    """The weight of the arcs from each vertex to its own group, float64 [n]; an undirected self-loop counts twice.

    group : int64 [n], from 0 to n - 1. weighted : as in `quotient`. backend : a name of the
    registry. O(m). Raises ArgumentError for groups of another shape, dtype or range.

    >>> graph = tg.generators.barbell(3, 0)
    >>> tg.primitives.communities.inside(graph, torch.tensor([0, 0, 0, 1, 1, 1]))
    tensor([2., 2., 2., 2., 2., 2.], dtype=torch.float64)
    """
    _check_range("group", group, graph.num_vertices)
    if len(group) != graph.num_vertices:
        raise ArgumentError(f"group: expected [{graph.num_vertices}], one for each vertex, got [{len(group)}]")
    if graph.layout is not None and not graph.storage.is_distributed and backend == "auto":
        return _inside_parts(graph, group, _exactly(graph) if weighted else None)
    arcs = kinds.reweighted(graph, _exactly(graph)) if weighted else graph.decoded()
    return operators.sum_inside.with_backend(backend)(arcs, group, weighted)


def _inside_parts(graph: Graph, group: Tensor, exact: Callable[[Tensor], Tensor] | None) -> Tensor:
    """As `inside`, of a graph in a layout, with exact weights if any."""
    total = torch.zeros(graph.num_vertices, dtype=torch.float64, device=graph.device)
    for source, target, weights, _, _ in in_parts(graph):
        each = torch.ones_like(source, dtype=torch.float64) if exact is None else exact(cast(Tensor, weights))
        if not graph.directed:
            each = torch.where(source == target, 2 * each, each)
        total.index_add_(0, source, each * (group[source] == group[target]))
    return total


def exact_weights(graph: Graph) -> Tensor:
    """The weights float64 [m] as multiples of a power of two, of which at most 2^52 occur in all.

    Raises ArgumentError where there are none, and for weights that are negative or not finite.

    >>> tg.primitives.communities.exact_weights(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0]))
    tensor([0.5000, 2.0000], dtype=torch.float64)
    """
    exact, weights = _exactly(graph), graph.decoded().weights
    assert weights is not None
    return exact(weights)


def _exactly(graph: Graph) -> Callable[[Tensor], Tensor]:
    """The function that makes weights of a graph those of `exact_weights`."""
    if graph.weight_dtype is None:
        raise ArgumentError("weighted: the graph has no weights; leave weighted=False, or give it weights")
    kinds.check(graph, "measures", "communities")
    largest = float(graph.weight_range[1]) * graph.num_arcs * 2
    step = 2.0 ** max(math.frexp(largest)[1] - 52, -1074)
    rounds = largest > 0 and graph.weight_dtype.is_floating_point

    def exact(weights: Tensor) -> Tensor:
        held = weights.detach().to(torch.float64)
        return held.div(step).round_().mul_(step) if rounds else held.contiguous()

    return exact


def _check_groups(graph: Quotient, name: str, group: Tensor, count: int) -> None:
    if group.shape != (graph.num_vertices,):
        raise ArgumentError(f"{name}: expected one for each of {graph.num_vertices} vertices, got {list(group.shape)}")
    _check_range(name, group, count)


def _check_range(name: str, group: Tensor, count: int) -> None:
    if group.dtype != torch.int64 or group.dim() != 1:
        raise ArgumentError(f"{name}: expected int64 [n], got {group.dtype} {list(group.shape)}; use .long()")
    if not len(group):
        return
    least, largest = (int(each) for each in group.aminmax())
    if least < 0 or largest >= count:
        wrong = least if least < 0 else largest
        position = int((group == wrong).nonzero()[0])
        raise ArgumentError(f"{name}: {wrong} at position {position} is outside 0..{count - 1}; number them first")
