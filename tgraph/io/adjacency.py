"""The dicts of a networkx graph as tensors, and back.

networkx keeps, for every node, a dict of its neighbours in the order in which edges were added, and for every edge a
dict of attributes. They become the rows of a Graph, which ascend, with the order of the dicts beside, and a column for
each attribute. All loops over edges are those of the interpreter's own iterators.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, compress, islice
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.graph import Graph
from tgraph.io.columns import Column, columns_of, dicts_of

if TYPE_CHECKING:
    import networkx

_values = methodcaller("values")


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A networkx graph as tensors.

    graph : the Graph of its nodes 0..n-1, without ids and weights; an undirected edge is two arcs, a self-loop one.
    nodes : the nodes in networkx's order, range(n) where they are these numbers.
    order : int64 [m], the arcs of every row of `graph` in the order of the dicts; None where that ascends.
    back_order : the same for the rows of `graph.transpose()`, the dicts of predecessors of a directed graph.
    edge_columns : the attributes of edges by name, a value for each arc of `graph`.
    node_columns : the attributes of nodes.
    keys : the key of each arc of a multigraph, an array of objects; None where parallel edges have the keys 0, 1, ...
    """

    graph: Graph
    nodes: Sequence[Any]
    order: Tensor | None = None
    back_order: Tensor | None = None
    edge_columns: Mapping[Any, Column] = field(default_factory=dict)
    node_columns: Mapping[Any, Column] = field(default_factory=dict)
    keys: np.ndarray | None = None


def read(G: networkx.Graph, edge_attrs: Iterable[Any] | None = (), node_attrs: Iterable[Any] | None = ()) -> Adjacency:
    """The tensors of a networkx graph, with the attributes of edges and nodes that are named; None names all."""
    nodes = _nodes(G)
    index = None if isinstance(nodes, range) else dict(zip(nodes, range(len(nodes)), strict=True))
    rows = _in_order(G._adj, nodes)
    offset, neighbors, multiplicity = _read_rows(rows, index, G.is_multigraph())
    graph, place = _ascending(offset, neighbors, directed=G.is_directed())
    if G.is_directed():
        taken, edge = None, place
    else:
        upper = neighbors >= sorting.expand_rows(offset)
        taken, edge = upper, _edge_of_arc(graph, upper, place)
    back_order = None
    if G.is_directed():
        back_offset, back_neighbors, _ = _read_rows(_in_order(G._pred, nodes), index, G.is_multigraph())
        back_order = _inverse(_ascending(back_offset, back_neighbors, directed=True)[1])
    columns, keys = _read_edges(rows, multiplicity, taken, edge_attrs)
    if edge is not None:
        columns = {name: column.take(edge) for name, column in columns.items()}
        keys = None if keys is None else keys[edge.numpy()]
    attributes = list(G._node.values()) if node_attrs is None or node_attrs else []
    return Adjacency(graph, nodes, _inverse(place), back_order, columns, columns_of(attributes, node_attrs), keys)


def _nodes(G: networkx.Graph) -> Sequence[Any]:
    nodes = list(G)
    numbers = range(len(nodes))
    return numbers if nodes == list(numbers) and set(map(type, nodes)) <= {int} else nodes


def _in_order(dicts: Mapping[Any, Any], nodes: Sequence[Any]) -> list[Any]:
    return list(dicts.values()) if list(dicts) == list(nodes) else [dicts[node] for node in nodes]


def _read_rows(
    rows: list[Any], index: dict[Any, int] | None, multigraph: bool
) -> tuple[Tensor, Tensor, np.ndarray | None]:
    """(offset, neighbors, how many edges lead to each neighbour of a multigraph), rows in the order of the dicts."""
    degree = np.fromiter(map(len, rows), np.int64, len(rows))
    count = int(degree.sum())
    try:
        names = chain.from_iterable(rows)
        neighbors = np.fromiter(names if index is None else map(index.__getitem__, names), np.int64, count)
    except (TypeError, ValueError):  # a number that equals an integer, such as 1+0j
        table = {number: number for number in range(len(rows))}
        neighbors = np.fromiter(map(table.__getitem__, chain.from_iterable(rows)), np.int64, count)
    multiplicity = None
    if multigraph:
        multiplicity = np.fromiter(map(len, chain.from_iterable(map(_values, rows))), np.int64, count)
        row = np.repeat(np.arange(len(rows)), degree)
        degree = np.bincount(row, weights=multiplicity, minlength=len(rows)).astype(np.int64)
        neighbors = np.repeat(neighbors, multiplicity)
    offset = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(degree, out=offset[1:])
    return torch.from_numpy(offset), torch.from_numpy(neighbors), multiplicity


def _ascending(offset: Tensor, neighbors: Tensor, directed: bool) -> tuple[Graph, Tensor | None]:
    """The graph of these rows, and the place of each of its arcs in them; None where they ascend already."""
    place = None
    if not validate.rows_ascend(offset, neighbors):
        rows = sorting.expand_rows(offset)
        offset, neighbors, place = sorting.sort_edges(rows, neighbors, len(offset) - 1, permutation=True)
    return Graph(offset, neighbors, directed=directed), place


def _inverse(place: Tensor | None) -> Tensor | None:
    if place is None:
        return None
    order = torch.empty_like(place)
    order[place] = torch.arange(len(place))
    return order


def _edge_of_arc(graph: Graph, upper: Tensor, place: Tensor | None) -> Tensor:
    """The edge of each arc of an undirected graph, int64 [arcs]; edges are numbered as networkx lists them, the arcs
    that are `upper` in the order of the dicts."""
    number = upper.cumsum(0) - 1
    number, upper = (number, upper) if place is None else (number[place], upper[place])
    lower = (~upper).nonzero().squeeze(1)
    number[lower] = number[graph.transpose_permutation[lower]]
    graph.drop_caches("transpose_permutation")
    return number


def _read_edges(
    rows: list[Any], multiplicity: np.ndarray | None, taken: Tensor | None, names: Iterable[Any] | None
) -> tuple[dict[Any, Column], np.ndarray | None]:
    """The columns of the edges, those `taken` of the arcs, in the order of the dicts; their keys in a multigraph."""
    if multiplicity is None and names is not None and not names:
        return {}, None
    inner: Iterable[Any] = chain.from_iterable(map(_values, rows))
    if taken is not None:  # of parallel arcs all are
        chosen = taken if multiplicity is None else taken[torch.from_numpy(multiplicity.cumsum() - multiplicity)]
        inner = compress(inner, chosen.to(torch.uint8).numpy().tobytes())
    if multiplicity is None:
        return columns_of(list(inner), names), None
    pairs = list(inner)
    columns = columns_of(list(chain.from_iterable(map(_values, pairs))), names)
    plain = list(chain.from_iterable(map(range, map(len, pairs))))
    found = list(chain.from_iterable(pairs))
    if found == plain and set(map(type, found)) <= {int}:
        return columns, None
    keys = np.empty(len(found), dtype=object)
    keys[:] = found
    return columns, keys


# ---- back to dicts ---------------------------------------------------------------------------------------------------


def write(tensors: Adjacency, kind: type[networkx.Graph], attributes: dict[Any, Any]) -> networkx.Graph:
    """The graph of networkx's class `kind` whose dicts these tensors are, in the same order."""
    G = object.__new__(kind)  # networkx's own, whatever classes its configuration prefers
    kind.__init__(G)
    G.graph.update(attributes)
    graph, multigraph = tensors.graph.decoded(), G.is_multigraph()
    with _without_collections():
        G._node.update(zip(tensors.nodes, dicts_of(tensors.node_columns, len(tensors.nodes)), strict=True))
        values = _edge_dicts(tensors, multigraph)
        G._adj.update(_rows_of_dicts(graph, tensors.nodes, tensors.order, values, multigraph))
        if G.is_directed():
            back, values = graph.transpose(), values[graph.transpose_permutation.numpy()]
            G._pred.update(_rows_of_dicts(back, tensors.nodes, tensors.back_order, values, multigraph))
    return G


@contextmanager
def _without_collections() -> Iterator[None]:
    """Millions of dicts that stay would have the collector look through them all, again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _edge_dicts(tensors: Adjacency, multigraph: bool) -> np.ndarray:
    """The dict of each arc: of its attributes, or of the parallel edges by key. The two arcs of an edge share it."""
    graph = tensors.graph.decoded()
    values = np.empty(graph.num_arcs, dtype=object)
    upper = np.arange(graph.num_arcs) if graph.directed else _upper(graph).nonzero().squeeze(1).numpy()
    count = len(upper)
    edges = dicts_of(tensors.edge_columns, count, upper)
    if multigraph:
        lengths = np.diff(np.append(_first_of_run(graph).numpy()[upper].nonzero()[0], count))
        numbers: Iterable[Any] = chain.from_iterable(map(range, lengths.tolist()))
        keyed = zip(numbers if tensors.keys is None else tensors.keys[upper].tolist(), edges, strict=True)
        by_key = np.empty(len(lengths), dtype=object)
        by_key[:] = [dict(islice(keyed, length)) for length in lengths.tolist()]
        values[upper] = np.repeat(by_key, lengths)
    else:
        values[upper] = edges
    if not graph.directed:
        lower = (~_upper(graph)).nonzero().squeeze(1)
        values[lower.numpy()] = values[graph.transpose_permutation[lower].numpy()]
    return values


def _rows_of_dicts(
    graph: Graph, nodes: Sequence[Any], order: Tensor | None, values: np.ndarray, multigraph: bool
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Each node and its dict of neighbours."""
    order = torch.arange(graph.num_arcs) if order is None else order
    degree = graph.offset.diff()
    if multigraph:  # an entry for each neighbour
        first = _first_of_run(graph)
        order = order[first[order]]
        degree = torch.zeros_like(degree).index_add_(0, sorting.expand_rows(graph.offset)[first], first[first].long())
    neighbors = graph.neighbors[order].tolist()
    names = neighbors if isinstance(nodes, range) else map(nodes.__getitem__, neighbors)
    entries = zip(names, values[order.numpy()].tolist(), strict=True)
    return ((node, dict(islice(entries, count))) for node, count in zip(nodes, degree.tolist(), strict=True))


def _upper(graph: Graph) -> Tensor:
    """The arcs of an undirected graph that stand for its edges: each edge once, a self-loop too."""
    return graph.neighbors >= sorting.expand_rows(graph.offset, graph.neighbors.dtype)


def _first_of_run(graph: Graph) -> Tensor:
    """The first of each run of parallel arcs, bool [arcs]."""
    first = torch.ones(graph.num_arcs, dtype=torch.bool)
    torch.ne(graph.neighbors[1:], graph.neighbors[:-1], out=first[1:])
    starts = graph.offset[:-1]
    first[starts[starts < graph.num_arcs]] = True
    return first
