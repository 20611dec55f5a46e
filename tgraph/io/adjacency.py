"""The dicts of a networkx graph as tensors, and back.

networkx has, for every node, a dict of its neighbours in the order of insertion, and for every edge a dict of
attributes. They become the ascending rows of a Graph, the order of the dicts, and a column for each attribute.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.io.columns import Column, columns_of, dicts_of
from tgraph.kernels.operators.dicts import (
    dict_keys,
    dict_offsets,
    dict_values,
    dicts_of_rows,
    entry_column,
    inner_column,
    inner_lengths,
    objects,
)

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A networkx graph as tensors.

    graph : the Graph of its nodes 0..n-1, without ids and weights; an undirected edge is two arcs, a self-loop one.
    nodes : the nodes in networkx's order, range(n) where they equal it.
    order : int64 [m], the arcs of every row of `graph` in the order of the dicts; None for ascending order.
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


def read(
    G: networkx.Graph, edge_attrs: Collection[Any] | None = (), node_attrs: Collection[Any] | None = ()
) -> Adjacency:
    """The tensors of a networkx graph, with the named attributes of edges and nodes; None for all. The tensors of a
    `tgraph.networkx.Graph` are shared. Raises ArgumentError for an undirected graph with an edge in one dict only."""
    if isinstance(held := getattr(G, "_tensors", None), Adjacency):
        return held
    nodes = _nodes(G)
    index = None if isinstance(nodes, range) else dict(zip(nodes, range(len(nodes)), strict=True))
    rows = _in_order(G._adj, nodes)
    offset, neighbors, parallel = _read_rows(rows, index, G.is_multigraph())
    reads_edges = edge_attrs is None or bool(edge_attrs) or G.is_multigraph()
    found = sorting.sort_rows(offset, neighbors, G.is_directed(), reads_edges)
    if found.lonely >= 0:
        raise ArgumentError(
            f"G: it is undirected, but an edge of node {nodes[found.lonely]!r} is in the dict of only one of its ends; "
            "the filter of a view must be the same for (u, v) and (v, u)"
        )
    back_order = None
    if G.is_directed():
        back = _read_rows(_in_order(G._pred, nodes), index, G.is_multigraph())
        back_order = sorting.sort_rows(*back[:2], True, False).order
    columns, keys = _read_edges(rows, parallel, found.upper, len(neighbors), edge_attrs) if reads_edges else ({}, None)
    if found.edge is not None:
        columns = {name: column.take(found.edge) for name, column in columns.items()}
        keys = None if keys is None else keys[found.edge.numpy()]
    node_columns = columns_of(list(G._node.values()), node_attrs) if node_attrs is None or node_attrs else {}
    graph = Graph.of_storage(Csr.trusted(offset, found.neighbors, None, len(nodes)), directed=G.is_directed())
    return Adjacency(graph, nodes, found.order, back_order, columns, node_columns, keys)


def _nodes(G: networkx.Graph) -> Sequence[Any]:
    nodes = list(G)
    numbers = range(len(nodes))
    return numbers if nodes == list(numbers) and set(map(type, nodes)) <= {int} else nodes


def _in_order(dicts: Mapping[Any, Any], nodes: Sequence[Any]) -> list[Any]:
    """The dicts of all nodes; filtered views of networkx become dicts, since their lengths count hidden entries."""
    rows = list(dicts.values()) if list(dicts) == list(nodes) else [dicts[node] for node in nodes]
    return rows if set(map(type, rows)) <= {dict} else list(map(dict, rows))


def _read_rows(
    rows: list[Any], index: dict[Any, int] | None, multigraph: bool
) -> tuple[Tensor, Tensor, tuple[Tensor, bool] | None]:
    """(offset, neighbors, and for a multigraph the number of parallel edges of each pair and whether their keys are
    0, 1, 2, ...), in the order of the dicts."""
    offset = dict_offsets(rows)
    count = int(offset[-1])
    neighbors = dict_keys(rows, index, len(rows), count)
    if not multigraph:
        return offset, neighbors, None
    multiplicity, _ = parallel = inner_lengths(rows, count)
    neighbors = torch.from_numpy(np.repeat(neighbors.numpy(), multiplicity.numpy()))  # torch's wakes its threads
    return offset_of(multiplicity)[offset], neighbors, parallel


def _read_edges(
    rows: list[Any],
    parallel: tuple[Tensor, bool] | None,
    taken: Tensor | None,
    count: int,
    names: Iterable[Any] | None,
) -> tuple[dict[Any, Column], np.ndarray | None]:
    """(columns of the edges, of the arcs, all `count` or those in the mask `taken`, in the dicts' order; keys in a
    multigraph or None)"""
    if parallel is None:
        count = count if taken is None else int(taken.sum())
        return _columns(rows, taken, count, names), None
    multiplicity, numbered = parallel
    chosen = None
    if taken is not None:  # parallel arcs are taken together
        chosen = taken[multiplicity.cumsum(0) - multiplicity]
        multiplicity = multiplicity[chosen]
    count = int(multiplicity.sum())
    if numbered and names is not None:
        inner = {name: inner_column(rows, chosen, count, name) for name in names}
        return {name: Column(*column) for name, column in inner.items() if column is not None}, None
    pairs = dict_values(rows, chosen, len(multiplicity))
    columns = _columns(pairs, None, count, names)
    return columns, None if numbered else objects(list(chain.from_iterable(pairs)))


def _columns(dicts: list[Any], taken: Tensor | None, count: int, names: Iterable[Any] | None) -> dict[Any, Column]:
    """The attributes of these `names`, or all, in the inner dicts of `dicts`."""
    if names is None:
        return columns_of(dict_values(dicts, taken, count), None)
    found = {name: entry_column(dicts, taken, count, name) for name in names}
    return {name: Column(*column) for name, column in found.items() if column is not None}


# ---- back to dicts ---------------------------------------------------------------------------------------------------


def write(tensors: Adjacency, kind: type[networkx.Graph], attributes: dict[Any, Any]) -> networkx.Graph:
    """The graph of networkx's class `kind` with the dicts of these tensors, in the same order."""
    G = object.__new__(kind)  # networkx's own, whatever classes its configuration prefers
    kind.__init__(G)
    G.graph.update(attributes)
    graph, multigraph = tensors.graph.decoded(), G.is_multigraph()
    with without_collections(len(tensors.nodes) + graph.num_arcs):
        G._node.update(zip(tensors.nodes, dicts_of(tensors.node_columns, len(tensors.nodes)), strict=True))
        number, values = _edge_dicts(tensors, multigraph)
        nodes = list(tensors.nodes)
        G._adj.update(zip(nodes, _rows_of_dicts(graph, nodes, tensors.order, number, values, multigraph), strict=True))
        if G.is_directed():
            back, number = graph.transpose(), number[graph.transpose_permutation]
            rows = _rows_of_dicts(back, nodes, tensors.back_order, number, values, multigraph)
            G._pred.update(zip(nodes, rows, strict=True))
    return G


MANY = 100_000  # of fewer objects, counting the frozen ones takes longer than a collection


@contextmanager
def without_collections(count: int) -> Iterator[None]:
    """As `paused_collections`, for about `count` new dicts. Many of them are promoted to the oldest generation, so that
    the next collection skips them."""
    with paused_collections():
        yield
        if count > MANY and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()


class paused_collections:
    """A `with` block without garbage collection: building millions of dicts would trigger it again and again."""

    __slots__ = ("_was_enabled",)

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_enabled:
            gc.enable()


def _edge_dicts(tensors: Adjacency, multigraph: bool) -> tuple[Tensor, list[Any]]:
    """(the number of each arc's dict, the dicts of edges: of attributes, or of the parallel edges by key). The two arcs
    of an edge share its dict."""
    graph = tensors.graph.decoded()
    upper = torch.ones(graph.num_arcs, dtype=torch.bool)
    if not graph.directed:  # each edge once, self-loops too
        upper = graph.neighbors >= sorting.expand_rows(graph.offset, graph.neighbors.dtype)
    arcs = upper.nonzero().squeeze(1)
    dicts = dicts_of(tensors.edge_columns, len(arcs), arcs.numpy())
    starts = upper & _first_of_run(graph) if multigraph else upper
    number = starts.cumsum(0).sub_(1)
    if not graph.directed:
        number = torch.where(upper, number, sorting.take(number, graph.transpose_permutation))
    return number, _by_key(tensors.keys, starts[arcs], arcs, dicts) if multigraph else dicts


def _by_key(keys: np.ndarray | None, starts: Tensor, arcs: Tensor, dicts: list[Any]) -> list[Any]:
    """The dicts {key: attributes} of each run of parallel arcs; `starts` : mask of the first of each run."""
    places = torch.arange(len(arcs))
    first = starts.nonzero().squeeze(1)
    offset = torch.cat([first, first.new_tensor([len(arcs)])])
    if keys is not None:
        return dicts_of_rows(offset, keys[arcs.numpy()].tolist(), places, dicts, places)
    plain = places - first[starts.cumsum(0) - 1]
    return dicts_of_rows(offset, list(range(int(offset.diff().max()) if len(first) else 0)), plain, dicts, places)


def _rows_of_dicts(
    graph: Graph, nodes: list[Any], order: Tensor | None, number: Tensor, values: list[Any], multigraph: bool
) -> list[dict[Any, Any]]:
    """The dict of neighbours of each node, with the value of each arc by `number`."""
    offset, neighbors = graph.offset, graph.neighbors
    if multigraph:  # an entry for each neighbour
        first = _first_of_run(graph)
        offset = offset_of(first)[offset]
        order = first.nonzero().squeeze(1) if order is None else order[first[order]]
    if order is not None:
        neighbors, number = sorting.take(neighbors, order), sorting.take(number, order)
    return dicts_of_rows(offset, nodes, neighbors, values, number)


def _first_of_run(graph: Graph) -> Tensor:
    """Mask of the first of each run of parallel arcs, bool [arcs]."""
    first = torch.ones(graph.num_arcs, dtype=torch.bool)
    torch.ne(graph.neighbors[1:], graph.neighbors[:-1], out=first[1:])
    starts = graph.offset[:-1]
    first[starts[starts < graph.num_arcs]] = True
    return first
