"""Methods of Graph that make other graphs from its arcs, in CSR; importing this module attaches them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting, symmetry, validate
from tgraph.core.columns import Columns, check_mirrored
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError


def to_undirected(graph: Graph, multi: inputs.Multi = "first") -> Graph:
    """The undirected graph of the same edges, in CSR; arcs u -> v and v -> u become one edge.

    `multi` says what becomes of parallel edges, as in `from_edges`; "keep" keeps u -> v and v -> u apart. An edge has
    the columns of its first arc.

    >>> graph = tg.Graph.from_edges([0, 1, 1], [1, 0, 2]).to_undirected()
    >>> graph.num_edges, graph.to_edge_index()
    (2, tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]]))
    """
    if multi == "keep" and not graph.directed:
        return graph
    if graph.storage.is_distributed:
        return _spread(graph, False, multi, "keep")
    if not graph.directed and multi != "keep":
        made = merged(graph, multi)
        return graph if made.num_arcs == graph.num_arcs else made
    arcs = graph.decoded()
    rows = sorting.expand_rows(arcs.offset, arcs.neighbors.dtype)
    options: Any = (graph.num_vertices, False, multi, "keep", bool(graph.arc_columns))
    tensors, places = inputs.numbered_csr(rows, arcs.neighbors, arcs.weights, *options)
    return Graph(*tensors, vertices=graph.vertices, directed=False).with_columns_of(graph, places)


def first_of_parallel(graph: Graph) -> Tensor | None:
    """The first of the parallel arcs of each pair of vertices, int64; None where the graph in CSR has no columns."""
    if not graph.arc_columns:
        return None
    return sorting.merge_parallel(graph.offset, graph.neighbors, _numbers(graph.neighbors), "first")[2]


def _numbers(arcs: Tensor) -> Tensor:
    return torch.arange(len(arcs), device=arcs.device)


def as_undirected(graph: Graph) -> Graph:
    """The undirected graph, in CSR, of edges that are stored in both directions already; no arc is added.

    Parallel edges are brought into one order, so that the two arcs of an edge carry the same weight. An edge has the
    columns of its arc from the lesser vertex. Raises ArgumentError, with the first at fault, where an arc lacks its
    reverse of equal weight; it is detected by a 64-bit fingerprint, with an error in about one of 2^63 graphs.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 0])
    >>> graph.num_edges, graph.as_undirected().num_edges
    (2, 1)
    """
    offset, neighbors, weights = graph.decoded().storage.to_csr()
    symmetry.check_mirrored(offset, neighbors, weights)
    place = _numbers(neighbors) if graph.arc_columns else None
    if weights is not None and sorting.has_parallel_arcs(offset, neighbors):
        order = Graph(offset, neighbors).transpose_permutation
        if not torch.equal(weights, weights.index_select(0, order)):
            place = validate.order_in_runs(offset, neighbors, weights)
            weights = weights[place]
    undirected = Graph(offset, neighbors, weights, graph.vertices, directed=False)
    if place is not None and graph.arc_columns:
        is_back = neighbors < sorting.expand_rows(offset, neighbors.dtype)
        place = torch.where(is_back, place[undirected.transpose_permutation], place)
    return undirected.with_columns_of(graph, place)


def without_self_loops(graph: Graph) -> Graph:
    """The graph without the arcs that lead from a vertex to itself; in CSR where there are any.

    >>> tg.Graph.from_edges([0, 0, 1], [0, 1, 1]).without_self_loops().to_edge_index()
    tensor([[0],
            [1]])
    """
    if not graph.num_self_loops:
        return graph
    if graph.storage.is_distributed:
        return _spread(graph, graph.directed, "keep", "drop")
    offset, neighbors, weights = graph.decoded().storage.to_csr()
    tensors = sorting.drop_self_loops(offset, neighbors, weights)
    kept = sorting.drop_self_loops(offset, neighbors, _numbers(neighbors))[2] if graph.arc_columns else None
    return Graph(*tensors, vertices=graph.vertices, directed=graph.directed).with_columns_of(graph, kept)


def merged(graph: Graph, multi: sorting.Merge = "first") -> Graph:
    """The graph in CSR with parallel arcs of equal direction merged as `multi` says in `from_edges`."""
    if graph.storage.is_distributed:
        return _spread(graph, graph.directed, multi, "keep")
    arcs = graph.decoded()
    tensors = sorting.merge_parallel(arcs.offset, arcs.neighbors, arcs.weights, multi)
    if tensors[1] is arcs.neighbors:
        return arcs
    made = Graph(*tensors, vertices=graph.vertices, directed=graph.directed)
    return made.with_columns_of(graph, first_of_parallel(arcs))


def _spread(graph: Graph, directed: bool, multi: inputs.Multi | sorting.Merge, self_loops: inputs.SelfLoops) -> Graph:
    """A derived graph of one that is spread over processes, each of which makes its own rows; kept with the graph."""
    name = f"{'directed' if directed else 'undirected'}, {multi} parallel arcs, {self_loops} self-loops"

    layout: Any = graph.layout

    def made() -> Graph:
        storage, places = layout.simplified(directed, multi, self_loops)
        return Graph.of_storage(storage, graph._ids, directed).with_columns_of(graph, places)

    return graph.kept(name, made)


def subgraph(graph: Graph, vertices: Any) -> Graph:
    """The graph induced by the given vertices (indices, or a bool mask [n]), renumbered in the order given; in CSR.

    Original ids stay: vertex i of the result is `graph.ids(vertices[i])`. Raises ArgumentError for a vertex that
    is repeated or out of range.

    >>> graph = tg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> part = graph.subgraph([3, 0, 1])
    >>> part.to_edge_index()
    tensor([[0, 1],
            [1, 2]])
    >>> part.ids([0, 1, 2])
    tensor([3, 0, 1])
    """
    mask = isinstance(vertices, (Tensor, np.ndarray)) and vertices.dtype in (torch.bool, np.bool_)
    chosen = graph.select(vertices).ids if mask else graph.as_vertices(vertices)
    graph.ensure_valid()
    renumbered = torch.full((graph.num_vertices,), -1, dtype=torch.int64, device=graph.device)
    renumbered[chosen] = torch.arange(len(chosen), device=graph.device)
    if int((renumbered >= 0).sum()) != len(chosen):
        raise ArgumentError("vertices: a vertex stands twice; pass each one once, for example vertices.unique()")
    offset, neighbors, weights = graph.storage.rows(chosen)
    src = sorting.expand_rows(offset)
    dst = renumbered[neighbors]
    inside = dst >= 0
    weights = None if weights is None else weights[inside]
    options: Any = (len(chosen), True, "keep", "keep", bool(graph.arc_columns))
    tensors, places = inputs.numbered_csr(src[inside], dst[inside], weights, *options)
    if places is not None:
        places = _places(graph, chosen)[inside][places]
    part = Graph(*tensors, vertices=graph.ids(chosen), directed=graph.directed)
    return part.with_columns_of(graph, places, chosen)


def _places(graph: Graph, vertices: Tensor) -> Tensor:
    """The numbers of the arcs in the rows of these vertices, int64 [e]."""
    if not graph.storage.is_distributed:
        return gather_rows(graph.row_offset(), vertices)[1]
    numbered = with_weights(graph, torch.arange(graph.num_arcs, device=graph.device))
    return cast(Tensor, numbered.storage.rows(vertices)[2])


def permute(graph: Graph, order: Any) -> Graph:
    """The same graph with its vertices renumbered: vertex i of the result is vertex order[i] of this one.

    order : every vertex index once, [n]. The result keeps it as `order`, original ids stay with their vertices, and
    `restore` brings results back. Raises ArgumentError for an order that is no permutation.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
    >>> turned = graph.permute([2, 1, 0])
    >>> turned.to_edge_index()
    tensor([[1, 2],
            [0, 1]])
    >>> turned.restore(tg.algorithms.bfs(turned, 2))
    tensor([0, 1, 2], dtype=torch.int32)
    """
    order = graph.as_vertices(order, "order")
    if len(order) != graph.num_vertices:
        raise ArgumentError(f"order: expected every vertex once, {graph.num_vertices} in all, got {len(order)}")
    return graph.subgraph(order).with_order(order)


def with_columns(
    graph: Graph, arcs: Mapping[str, Any] | None = None, vertices: Mapping[str, Any] | None = None
) -> Graph:
    """The same graph, in the same storage, with further named data of its arcs and vertices.

    arcs : {name: values}, a row for each arc in the order of `to_edge_index`, [m] or [m, ...].
    vertices : {name: values}, a row for each vertex, [n] or [n, ...].

    Values are tensors, arrays of numpy or Arrow, or lists. Numbers and bools become tensors; text, timestamps and what
    misses values become arrays of Arrow. A name that is there already gets the new values; None removes it. Columns are
    in `arc_columns` and `vertex_columns`, and follow their arcs and vertices: into the transpose, subgraphs,
    permutations, layouts and files (.tg). `tgraph.aggregate` and a Relaxation take those of arcs by name as weights;
    `weighted_by` makes one the weights of the graph.

    Raises ArgumentError for another number of rows, and for an undirected graph where the two arcs of an edge differ.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> graph = graph.with_columns(arcs={"year": [1997, 2001, 2016]}, vertices={"name": ["ann", "bob", "eve"]})
    >>> graph.transpose().arc_columns["year"], graph.subgraph([2, 1]).vertex_columns["name"].to_pylist()
    (tensor([1997, 2001, 2016]), ['eve', 'bob'])
    """
    changed = graph._arc_columns.changed(arcs, graph.num_arcs, graph.device, "arcs")
    given = Columns({name: changed[name] for name, values in (arcs or {}).items() if values is not None})
    if not graph.directed and given:
        check_mirrored(given, graph.decoded().transpose_permutation)
    of_vertices = graph._vertex_columns.changed(vertices, graph.num_vertices, graph.device, "vertices")
    same = _with_derived(Graph.of_storage(graph.storage, graph._ids, graph.directed, graph.order), graph)
    same.__dict__.update(_arc_columns=changed, _vertex_columns=of_vertices)
    return same


def weighted_by(graph: Graph, column: str | Tensor | None) -> Graph:
    """The same graph with a `column` of its arcs as the weights, for any algorithm: a name, cached, or a tensor [m] in
    the stored order of the arcs, which may require gradients. Without weights for None. In CSR, or spread over ranks
    where the graph is, with no gradients.

    Raises ArgumentError for an unknown column, and for one that is not [m] numbers.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"length": [1.0, 5.0, 2.0], "toll": [0, 1, 9]})
    >>> [tg.algorithms.sssp(graph.weighted_by(name), 0).tolist() for name in ("length", "toll")]
    [[0.0, 1.0, 3.0], [0, 0, 1]]
    >>> graph.weighted_by(torch.tensor([7, 8, 9])).weights
    tensor([7, 8, 9])
    """
    weights = graph.arc_columns.number(column, "column") if isinstance(column, str) else column
    if weights is not None:
        if weights.shape != (graph.num_arcs,) or weights.is_complex() or weights.dtype == torch.bool:
            named = repr(column) if isinstance(column, str) else "the tensor"
            raise ArgumentError(
                f"column: weights are integers or floats [m], here [{graph.num_arcs}], {named} has {weights.dtype} "
                f"{list(weights.shape)}"
            )
        if weights.device != graph.device:
            raise ArgumentError(f"column: on {weights.device}, the graph on {graph.device}; use .to(graph.device)")

    if isinstance(column, Tensor):
        return with_weights(graph, column)
    name = "unweighted" if column is None else f"weighted by {column!r}"
    return graph.kept(name, lambda: with_weights(graph, weights))


def with_weights(graph: Graph, weights: Tensor | None) -> Graph:
    """As `weighted_by`, for weights that were checked.

    >>> graph = tg.generators.path(2)
    >>> tg.core.derived_graphs.with_weights(graph, torch.tensor([True, True])).weights
    tensor([True, True])
    """
    if graph.storage.is_distributed:
        layout: Any = graph.layout
        storage = layout.weighted(weights)
    else:
        arcs = graph.decoded()
        storage = Csr.unchecked(arcs.offset, arcs.neighbors, None, graph.num_vertices, weights)
    order = graph.__dict__.get("order", graph.__dict__.get("_read_order"))
    directed = storage.directed if graph.storage.is_distributed else graph.directed
    same = Graph.of_storage(storage, graph._ids, directed, order)
    return _with_derived(same.with_columns_of(graph), graph)


def _with_derived(same: Graph, graph: Graph) -> Graph:
    """The graph, just built of the same arcs, with what was derived from these alone."""
    names = (
        "out_degree",
        "in_degree",
        "num_self_loops",
        "num_parallel_edges",
        "transpose_permutation",
        "mean_degree_met",
    )
    held = graph._cache.values
    same._cache.values.update({name: held[name] for name in names if name in held})
    same.__dict__["_found"] = graph._found
    return same


Graph.to_undirected, Graph.as_undirected, Graph.without_self_loops = to_undirected, as_undirected, without_self_loops
Graph.subgraph, Graph.permute = subgraph, permute
Graph.with_columns, Graph.weighted_by = with_columns, weighted_by
