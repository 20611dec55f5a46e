"""Shared by the functions: nodes and vertices, rows in networkx's order, matrices, results by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.core import sums
from tgraph.core.building import sorting
from tgraph.networkx.caching import cached
from tgraph.networkx.nodes import NoNode

EXTREME = 1e-75  # squares of squares of smaller numbers, or of those beyond the inverse, lose digits, or are 0 or inf


def structure(G: Any, weight: Any = None, default: Any = 1, multi: str = "keep") -> tg.Graph:
    """The arcs, with an attribute as weights where one is named, which must be finite: what becomes of others depends
    on the order in which networkx computes. Raises NotImplementedError."""
    if weight is None:
        return G.structure
    return summable(of_kind("numbers", G.weighted(weight, default, multi)), weight)


def summable(graph: tg.Graph, weight: Any) -> tg.Graph:
    """The graph, whose sums of weights are finite where these are. Raises NotImplementedError: of sums that are inf, or
    inf - inf, the order of the summands decides."""
    low, high = graph.weight_range
    if graph.weight_dtype is not None and -torch.inf < low and high < torch.inf == 4 * max(-low, high) * graph.num_arcs:
        raise NotImplementedError(f"{weight!r}: sums of weights as large as {max(-low, high)} that may be inf")
    return graph


def of_kind(kind: str, graph: tg.Graph) -> tg.Graph:
    """The graph, whose weights are of a kind of `tgraph.primitives.weights`. Raises ArgumentError."""
    tg.primitives.weights.check(graph, kind, "results as those of networkx")
    return graph


def require_one_kind(G: Any, weight: Any, default: Any = 1) -> bool:
    """True where the weights are integers. Raises NotImplementedError for integers among floats: the type of a sum
    depends on its summands."""
    kinds = {issubclass(kind, (int, np.integer)) for kind in G._kinds_of(weight, default)}
    if len(kinds) > 1:
        raise NotImplementedError(f"the attribute {weight!r} of the edges: integers among floats")
    return True in kinds


def simple(G: Any) -> tg.Graph:
    """The arcs, parallel ones once, without self-loops."""
    if not G.is_multigraph() and not G.structure.num_self_loops:
        return G.structure
    return _simple(G)


@cached
def _simple(G: Any) -> tg.Graph:
    return G.weighted(None, multi="first").without_self_loops()


def names(G: Any, vertices: Tensor | list[int]) -> list[Any]:
    """The nodes of vertices, as they were given."""
    if not G._given:
        return G.labels.of(vertices)
    found = list(vertices.tolist() if isinstance(vertices, Tensor) else vertices)
    given = [(i, G._given[v]) for i, v in enumerate(found) if v in G._given]
    found = list(G.labels.of(found))
    for i, node in given:
        found[i] = node
    return found


def number(G: Any, node: Any) -> int:
    """The vertex of a node. Raises NoNode where it is none."""
    try:
        return G.labels.index(node)
    except (KeyError, TypeError):
        raise NoNode(f"The node {node} is not in the {'di' * G.is_directed()}graph.") from None


def numbers(G: Any, nodes: Iterable[Any]) -> Tensor:
    """The vertices of nodes, int64 [k]. Raises NoNode where one is none."""
    nodes = _listed(nodes)
    try:
        if isinstance(G.labels.names, range) and set(map(type, nodes)) <= {int}:
            found = torch.tensor(nodes, dtype=torch.int64)
            if not len(found) or (int(found.min()) >= 0 and int(found.max()) < len(G.labels)):
                return found
        return torch.tensor(G.labels.indices(nodes), dtype=torch.int64)
    except (KeyError, TypeError, ValueError, RuntimeError):  # no node, or no int64
        return torch.tensor([number(G, node) for node in nodes], dtype=torch.int64)


def _listed(nodes: Iterable[Any]) -> list[Any]:
    try:
        return list(nodes)
    except TypeError as fault:
        raise NoNode(str(fault)) from fault


def python_sums(values: Tensor) -> list[Any]:
    """Sums as Python's `sum` has them: without a summand the integer 0."""
    return [value or 0 for value in values.tolist()]


def by_node(G: Any, values: Any, vertices: Tensor | None = None) -> dict[Any, Any]:
    """The result of each vertex, or of each of some vertices, by node."""
    nodes = G.labels.names if vertices is None else names(G, vertices)
    return dict(zip(nodes, values if isinstance(values, list) else values.tolist(), strict=True))


def answer(G: Any, nodes: Any, vertices: Tensor, values: list[Any]) -> Any:
    """The results of the vertices of `nodes`, by node; the only one where `nodes` is a node."""
    return values[0] if nodes is not None and nodes in G else by_node(G, values, vertices)


def node_pairs(G: Any, source: Tensor, target: Tensor) -> Iterator[tuple[Any, Any]]:
    """The nodes of pairs of vertices."""
    return zip(names(G, source), names(G, target), strict=True)


def chain(above: Any, v: int) -> list[int]:
    """A vertex, the one above it, and so on up to one that has none, -1; `above` by vertex."""
    path = []
    while v >= 0:
        path.append(v)
        v = int(above[v])
    return path


def nodes_in(G: Any, mask: Tensor) -> list[Any]:
    """The nodes of the vertices in a mask."""
    return names(G, mask.nonzero().flatten())


def row_of_arcs(offset: Tensor) -> Tensor:
    """The row of each arc, int64 [m]."""
    return torch.arange(len(offset) - 1).repeat_interleave(offset.diff())


def rows(G: Any, *, reverse: bool = False) -> tuple[Tensor, Tensor]:
    """(offset, neighbors) with the neighbours, or the predecessors, of each node in networkx's order."""
    return _rows(G, reverse and G.is_directed())


@cached
def _rows(G: Any, reverse: bool) -> tuple[Tensor, Tensor]:
    arcs = G.structure.decoded()
    arcs, order = (arcs.transpose(), G._tensors.back_order) if reverse else (arcs, G._tensors.order)
    return arcs.offset, arcs.neighbors if order is None else arcs.neighbors[order]


def row_entries(offset: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """(i, arc) for each arc of the rows of some vertices, one row after the other: that of vertices[i]."""
    begin = offset[vertices]
    degree = offset[vertices + 1] - begin
    i = torch.arange(len(vertices)).repeat_interleave(degree)
    before = degree.cumsum(0) - degree
    return i, torch.arange(len(i)) + (begin - before)[i]


def ends_of_rows(G: Any, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """(source, target) of the arcs of the rows of some vertices, in networkx's order."""
    offset, neighbors = rows(G)
    i, arc = row_entries(offset, vertices)
    return vertices[i], neighbors[arc].to(torch.int64)


def weighted_rows(
    G: Any, weight: Any, default: Any = 1, *, multi: sorting.Merge = "min", reverse: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """(offset, neighbors, weights) in networkx's order, parallel arcs merged by "min", "max" or "sum"; weights are
    int64 or float64. Raises NotImplementedError for weights that are NaN or -inf, and for integers beyond int64."""
    return _weighted_rows(G, weight, default, multi, reverse and G.is_directed())


@cached
def _weighted_rows(
    G: Any, weight: Any, default: Any, multi: sorting.Merge, reverse: bool
) -> tuple[Tensor, Tensor, Any]:
    offset, neighbors = rows(G, reverse=reverse)
    weights = None
    if weight is not None:
        weights = of_kind("signed lengths", G.weighted(weight, default)).decoded().weights
    if weights is None:
        weights = torch.full((len(neighbors),), default)
    weights = weights.to(torch.float64 if weights.is_floating_point() else torch.int64)
    arcs = G.structure.decoded()
    if reverse:
        weights = weights[arcs.transpose_permutation]
    order = G._tensors.back_order if reverse else G._tensors.order
    weights = weights if order is None else weights[order]
    if not weights.is_floating_point():  # a path has fewer arcs than there are nodes, but parallel ones add up
        refuse_beyond(sums.largest(weights) * (len(weights) if multi == "sum" else len(offset)), 2**62, weight)
    elif len(weights) and float(weights.nan_to_num(0, 0, 0).abs().max()) * len(weights) == torch.inf:
        raise NotImplementedError(f"{weight!r}: sums of weights that may be inf")
    if not G.is_multigraph():
        return offset, neighbors, weights
    return sorting.merge_parallel(offset, neighbors, weights, multi)  # parallel arcs stand side by side


def matrix(G: Any, weight: Any, multi: str = "sum", dtype: Any = None) -> Any:
    """The adjacency matrix as a csr_array of its own memory, parallel edges merged; bools are added as integers."""
    import scipy.sparse

    if G.is_multigraph() and bool in G._kinds_of(weight):
        raise NotImplementedError(f"{weight!r}: bool of parallel edges, which add up to bool")
    arcs = summable(G.weighted(weight, 1, multi), weight).decoded()
    if not G.is_directed() and arcs.num_self_loops:
        of_kind("numbers", arcs)  # networkx adds a self-loop twice and takes it away once
    weights = torch.ones(arcs.num_arcs, dtype=torch.int64) if arcs.weights is None else arcs.weights.clone()
    if dtype is not None and G.is_multigraph() and weights.is_floating_point() and np.dtype(dtype).kind in "iub":
        raise NotImplementedError(f"the attribute {weight!r} of parallel edges: floats, truncated before they add up")
    if not arcs.num_arcs:
        weights = weights.double()  # as numpy does of an empty list
    tensors = weights.numpy(), arcs.neighbors.clone().numpy(), arcs.offset.clone().numpy()
    found = scipy.sparse.csr_array(tensors, shape=(len(G), len(G)))
    found.has_canonical_format = True
    return found if dtype is None else found.astype(dtype)


def degrees(G: Any, weight: Any = None, kind: str = "both") -> Tensor:
    """The degree of each vertex, or the sum of its weights, as networkx counts: an undirected self-loop twice.

    kind : "in", "out" or "both".
    """
    graph = structure(G, weight)
    first = _strength(graph, kind if G.is_directed() and kind != "both" else "out")
    if G.is_directed() and kind != "both":
        return first
    second = _strength(graph, "in") if G.is_directed() else loops(graph)
    if graph.weight_dtype is not None and not first.is_floating_point():
        refuse_beyond(sums.largest(first) + sums.largest(second), sums.MOST, weight)
    return first + second


def refuse_beyond(largest: int, most: int, weight: Any) -> None:
    """Leave integers as large as this to networkx, whose numbers have no limit."""
    if largest > most:
        raise NotImplementedError(f"{weight!r}: integers that sum up to {largest} may not fit")


def comparable(number: Any) -> Any:
    """A number to compare small integers of a tensor with, which holds no larger ones."""
    return max(-(2**62), min(number, 2**62))


def refuse_rounding(graph: tg.Graph, weight: Any, times: int = 1) -> None:
    """Leave integer weights to networkx whose sums, each so many times, float64 would round."""
    if graph.weight_dtype is not None and not graph.weight_dtype.is_floating_point:
        refuse_beyond(int(max(map(abs, graph.weight_range))) * graph.num_arcs * times, 2**53, weight)


def refuse_extreme(graph: tg.Graph, weight: Any) -> tg.Graph:
    """The graph; float weights are left to networkx the largest of which has a square whose square float64 takes
    for 0 or inf."""
    if graph.weight_dtype is not None and graph.weight_dtype.is_floating_point:
        largest = max(map(abs, graph.weight_range))
        if not EXTREME < largest < 1 / EXTREME:
            raise NotImplementedError(f"{weight!r}: squares of {largest} lose digits, or are 0 or inf")
    return graph


def refuse_cancelled(graph: tg.Graph, weight: Any, totals: Tensor) -> None:
    """Leave weights of both signs to networkx where one of their `totals` is near 0: how near depends on the order of
    the summands, unless float64 rounds none of them."""
    if graph.weight_dtype is None:
        return
    low, high = graph.weight_range
    largest = max(-low, high)
    exact = not graph.weight_dtype.is_floating_point and largest * graph.num_arcs <= 2**53
    if low < 0 < high and not exact and bool((totals.abs() < largest * 2**-20).any()):
        raise NotImplementedError(f"{weight!r}: weights of both signs that add up to nearly 0")


def _strength(graph: tg.Graph, kind: str) -> Tensor:
    if graph.weight_dtype is None:
        return graph.out_degree if kind == "out" else graph.in_degree
    return tg.aggregate(graph.transpose() if kind == "out" else graph, _ones(graph), "sum", edge="mul")


def _ones(graph: tg.Graph) -> Tensor:
    weights = graph.decoded().weights
    assert weights is not None
    return torch.ones(graph.num_vertices, dtype=weights.dtype)


def loops(graph: tg.Graph) -> Tensor:
    """The weight of the self-loops of each vertex."""
    n, dtype = graph.num_vertices, graph.weight_dtype or torch.int64
    if not graph.num_self_loops:
        return torch.zeros(n, dtype=dtype)
    source, target = graph.to_edge_index()
    loop = source == target
    weights = graph.decoded().weights
    held = torch.ones(int(loop.sum()), dtype=dtype) if weights is None else weights[loop]
    return sums.by_group(held, source[loop], n, dtype, "weights: those of self-loops")


def bunch(G: Any, nodes: Any) -> Tensor:
    """The vertices of those of `nodes` that are nodes, int64 [k]; of all for None."""
    if nodes is None:
        return torch.arange(len(G))
    if isinstance(nodes, (list, set)):
        try:
            return numbers(G, nodes)
        except NoNode:  # some are no nodes
            pass
    try:
        return torch.tensor([G.labels.index(node) for node in G.nbunch_iter(nodes)], dtype=torch.int64)
    except nx.NetworkXError as fault:
        raise NoNode(str(fault)) from fault


def known(G: Any, nodes: Iterable[Any]) -> list[Any]:
    """The `nodes` that the graph has. Raises NoNode for one that cannot be looked up, and for `nodes` that are not
    several."""
    try:
        return [node for node in nodes if node in G.labels]
    except TypeError as fault:
        raise NoNode(str(fault)) from fault


def mask(G: Any, nodes: Iterable[Any]) -> Tensor:
    """Mask of the vertices among `nodes`, bool [n]; others are passed over."""
    return marked(G, chosen(G, nodes))


def marked(G: Any, vertices: Tensor) -> Tensor:
    """Mask of these vertices, bool [n]."""
    found = torch.from_numpy(np.zeros(len(G), dtype=bool))  # pages that nothing touches cost nothing, unlike torch's
    found[vertices] = True
    return found


def chosen(G: Any, nodes: Iterable[Any]) -> Tensor:
    """The vertices of `nodes`, each once, in ascending order; what is no node is passed over."""
    nodes = _listed(nodes)
    try:
        return numbers(G, nodes).unique()
    except NoNode:
        return numbers(G, known(G, nodes)).unique()


def edges(G: Any, weight: Any = None) -> tuple[Tensor, Tensor, Tensor | None]:
    """(source, target, weights) of each edge, an undirected one once; weights None without an attribute."""
    graph = structure(G, weight).decoded()
    source, target = graph.to_edge_index()
    if graph.directed:
        return source, target, graph.weights
    once = source <= target
    return source[once], target[once], None if graph.weights is None else graph.weights[once]
