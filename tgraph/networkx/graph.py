"""Graph, DiGraph, MultiGraph and MultiDiGraph: networkx's classes over tensors, read-only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import networkx as nx
import numpy as np
import torch
from networkx.classes.coreviews import AdjacencyView, AtlasView
from torch import Tensor

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.io import adjacency
from tgraph.io.adjacency import Adjacency
from tgraph.io.columns import Column
from tgraph.kernels.operators.dicts import DTYPES, MISSING
from tgraph.networkx.caching import cached
from tgraph.networkx.degrees import counted
from tgraph.networkx.edges import listed
from tgraph.networkx.nodes import Nodes
from tgraph.networkx.views import NodeDicts, Rows, refuse

MAPPINGS = ("_node", "_adj", "_succ", "_pred")  # attributes that networkx's views assign
DERIVED = {  # cached attributes that follow from the mappings
    *("_succ", "_tensors", "adj", "degree", "edges", "in_degree", "in_edges"),
    *("labels", "nodes", "out_degree", "out_edges", "pred", "succ"),
}
G = TypeVar("G", bound="Graph")


class Graph(nx.Graph):
    """An undirected graph in tensors, with the methods of networkx's Graph that read it.

    incoming_graph_data : a `tg.Graph`, such as `tg.read(path)` gives, which is not copied, a graph of networkx,
    or what `networkx.Graph` takes. nodes : the names of the vertices of a `tg.Graph`, in order; without them the ids
    that it has, or 0..n-1. attr : attributes of the graph; those of a `tg.Graph` have the weights as "weight".

    Views such as `nodes`, `adj` and `degree` give nodes and neighbours in networkx's order and attributes as Python's
    objects; sums of weights may be rounded in another order than networkx's. Methods that change a graph raise
    NetworkXError: `to_networkx()` is a copy that can be changed.

    structure : the `tg.Graph` of the vertices 0..n-1, without weights. `weighted(attribute)` has weights, and
    `tg.from_networkx(G)` is the same with the nodes as ids; neither copies the tensors.
    labels : the `Nodes` that translate nodes to vertices and back.
    """

    __networkx_backend__ = "tgraph"
    _plain: ClassVar[type[nx.Graph]] = nx.Graph  # the class of networkx with the same interface

    frozen = True  # as `networkx.is_frozen` asks
    _given: Mapping[int, Any] = {}  # names of vertices in results, instead of the nodes
    graph: dict[Any, Any]
    _cached: dict[Any, Any]

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, incoming_graph_data: Any = None, multigraph_input: bool | None = None, **attr: Any):
        attr.pop("backend", None)
        options = {"multigraph_input": multigraph_input} if self.is_multigraph() else {}
        if isinstance(incoming_graph_data, tg.Graph):
            self._hold(_wrapped(incoming_graph_data, type(self), attr.pop("nodes", None)), {})
        elif type(incoming_graph_data) is type(self):
            self._hold(incoming_graph_data._tensors, dict(incoming_graph_data.graph))
        else:
            plain = object.__new__(self._plain)  # networkx's own, whatever classes its configuration prefers
            plain.__init__(incoming_graph_data, **options)
            self._hold(adjacency.read(plain, None, None), plain.graph)
        self.graph.update(attr)

    @classmethod
    def of(cls: type[G], tensors: Adjacency, attributes: dict[Any, Any] | None = None) -> G:
        """The graph of these tensors, with attributes of its own."""
        found = object.__new__(cls)
        found._hold(tensors, {} if attributes is None else attributes)
        return found

    def _hold(self, tensors: Adjacency, attributes: dict[Any, Any]) -> None:
        self.__dict__.update(graph=attributes, _tensors=tensors, _cached={}, __networkx_cache__={})

    def __getstate__(self) -> dict[str, Any]:
        return {"graph": self.graph, "_tensors": self._tensors, "_cached": {}, "__networkx_cache__": {}}

    @cached_property
    def _tensors(self) -> Adjacency:
        """The tensors that `_hold` was given; for a view of networkx on other mappings, theirs."""
        return adjacency.read(self._as_plain(), None, None)

    def __setattr__(self, name: str, value: Any) -> None:
        """Views of networkx, such as `networkx.subgraph_view`, assign mappings: accept them and drop the caches."""
        if name in MAPPINGS:
            for each in DERIVED:
                self.__dict__.pop(each, None)
            self.__dict__.update({"_cached": {}, "_adj" if name == "_succ" else name: value})
        else:
            super().__setattr__(name, value)

    # ---- tensors -----------------------------------------------------------------------------------------------

    @property
    def structure(self) -> tg.Graph:
        """The arcs, vertices 0..n-1 in the order of the nodes, without weights."""
        return self._tensors.graph

    @cached_property
    def labels(self) -> Nodes:
        """The nodes by vertex, and vertices by node."""
        return Nodes(self._tensors.nodes)

    def _given_as(self: G, nodes: Mapping[int, Any]) -> G:
        """The same graph, for a call whose results name these vertices by other objects, equal to their nodes."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__, _given=nodes)
        return found

    @property
    @cached
    def loops(self) -> Tensor:
        """The number of self-loops of each vertex, int64 [n]."""
        arcs = self.structure.decoded()
        rows = sorting.expand_rows(arcs.offset, arcs.neighbors.dtype)
        return torch.bincount(rows[rows == arcs.neighbors], minlength=arcs.num_vertices)

    def edge_column(self, attribute: Any) -> Column | None:
        """The values of an attribute for each arc of `structure`; None where no edge has it."""
        return self._tensors.edge_columns.get(attribute)

    def node_column(self, attribute: Any) -> Column | None:
        """The values of an attribute for each vertex; None where no node has it."""
        return self._tensors.node_columns.get(attribute)

    def weighted(self, attribute: Any = None, default: Any = 1, multi: str = "keep") -> tg.Graph:
        """The structure with an attribute of the edges as weights, `default` where an edge has none.

        `multi` : "keep" parallel edges, or merge them by "first", "sum", "min" or "max". Without an attribute there are
        no weights, except the number of parallel edges for "sum". The result is cached. Raises NotImplementedError for
        values that are no numbers, or that a tensor cannot hold.
        """
        multi = multi if self.is_multigraph() else "keep"
        if attribute is None and multi != "sum":
            if multi == "keep":
                return self.structure
            attribute = _NO_ATTRIBUTE
        return self._weigh(attribute, default, multi)

    @cached
    def _weigh(self, attribute: Any, default: Any, multi: str) -> tg.Graph:
        arcs = self.structure.decoded()
        weights = None if attribute is _NO_ATTRIBUTE else self._weights(attribute, default)
        tensors = arcs.offset, arcs.neighbors, weights
        if multi != "keep":
            tensors = sorting.merge_parallel(*tensors, multi)  # type: ignore[arg-type]
        return tg.Graph(*tensors, directed=self.is_directed())

    @cached
    def _kinds_of(self, attribute: Any, default: Any = 1) -> set[type]:
        """The classes of the values of an attribute, and that of `default` where an edge has none."""
        column = self.edge_column(attribute)
        if column is None:
            return {type(default)}
        if isinstance(column.values, Tensor):
            some = column.present is not None and not bool(column.present.all())
            return {*(kind for kind, dtype in DTYPES.items() if dtype == column.values.dtype), *[type(default)] * some}
        return {type(default if value is MISSING else value) for value in column.values.tolist()}

    @cached
    def _whole_of(self, attribute: Any, default: Any = 1) -> Tensor:
        """Mask of the arcs whose attribute is an integer, bool [m], or [1] where it is the same for all."""
        column = self.edge_column(attribute)
        whole = torch.tensor([isinstance(default, int)])
        if column is None:
            return whole
        if isinstance(column.values, Tensor):
            own = torch.tensor([not column.values.is_floating_point()])
            return own if column.present is None else torch.where(column.present, own, whole)
        return torch.tensor([isinstance(default if v is MISSING else v, (int, np.integer)) for v in column.tolist()])

    def _weights(self, attribute: Any, default: Any) -> Tensor:
        column = None if attribute is None else self.edge_column(attribute)
        if column is None:
            return torch.full((self.structure.num_arcs,), default, device=self.structure.device)
        for kind in self._kinds_of(attribute, default):
            if issubclass(kind, np.generic) and kind not in (np.int64, np.float64):
                raise NotImplementedError(f"the attribute {attribute!r} of the edges: networkx adds {kind.__name__} up")
        try:
            weights = column.numbers(default)
        except (TypeError, OverflowError) as fault:
            raise NotImplementedError(f"the attribute {attribute!r} of the edges: {fault}") from fault
        return weights.long() if weights.dtype == torch.bool else weights

    def to_networkx(self) -> nx.Graph:
        """A copy in networkx's own class, which can be changed."""
        return adjacency.write(self._tensors, self._plain, dict(self.graph))

    # ---- mappings that networkx's views read -------------------------------------------------------------------

    @cached_property
    def _node(self) -> Mapping[Any, Any]:
        return NodeDicts(self.labels, self._tensors.node_columns)

    @cached_property
    def _adj(self) -> Mapping[Any, Any]:
        kept = self._tensors
        arcs = kept.graph.decoded()
        return Rows(arcs, self.labels, self.is_multigraph(), kept.order, None, kept.edge_columns, kept.keys)

    # ---- answers from tensors at once ------------------------------------------------------------------------

    def __contains__(self, n: Any) -> bool:
        try:
            return n in self._node
        except TypeError:
            return False

    has_node = __contains__

    def __getitem__(self, n: Any) -> Any:
        return self._row_view(self._adj[n])

    _row_view: ClassVar[type] = AtlasView

    def has_edge(self, u: Any, v: Any) -> bool:
        """True where there is an edge from `u` to `v`."""
        rows = self._adj
        try:
            return rows.joins(u, v) if type(rows) is Rows else v in rows[u]
        except KeyError:
            return False

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """The number of edges, or of those between two nodes."""
        return self.structure.num_edges if u is None else super().number_of_edges(u, v)

    def size(self, weight: Any = None) -> Any:
        """The number of edges, or the sum of their weights."""
        return self.structure.num_edges if weight is None else super().size(weight)

    @cached_property
    def degree(self) -> Any:
        """The degree of each node, a view as networkx's."""
        return counted(super().degree)

    @cached_property
    def edges(self) -> Any:
        """The edges, a view as networkx's."""
        return listed(super().edges)

    # ---- graphs of this one ------------------------------------------------------------------------------------

    def copy(self: G, as_view: bool = False) -> G:
        """The same graph with attributes of its own; the tensors, which nothing changes, are shared."""
        return type(self).of(self._tensors, self.graph if as_view else dict(self.graph))

    def subgraph(self, nodes: Any) -> Graph:
        """The graph of these nodes and the edges between them, as it is now; only their rows are read."""
        return _converted(self._as_plain().subgraph(nodes))

    def edge_subgraph(self, edges: Any) -> Graph:
        """The graph of these edges and their nodes, as it is now."""
        return _converted(self._as_plain().edge_subgraph(edges))

    def to_undirected(self, *args: Any, **options: Any) -> Graph:
        """The undirected graph, a graph of its own also with `as_view`."""
        return _converted(self._as_plain().to_undirected(*args, **options))

    def to_directed(self, as_view: bool = False) -> Graph:
        """The graph with both arcs of every edge."""
        arcs = self.structure if self.is_directed() else _directed(self.structure.decoded())
        kept = replace(self._tensors, graph=arcs, back_order=None)  # as networkx's copy, arcs by source
        return CLASSES[True, self.is_multigraph()].of(kept, dict(self.graph))

    def _as_plain(self) -> nx.Graph:
        """networkx's own graph of these views, whose methods read them."""
        plain = object.__new__(self._plain)
        plain.__init__()
        plain.graph, plain._node, plain._adj = self.graph, self._node, self._adj
        if self.is_directed():
            plain._pred = self._pred
        return plain

    add_node = add_nodes_from = remove_node = remove_nodes_from = refuse
    add_edge = add_edges_from = add_weighted_edges_from = remove_edge = remove_edges_from = refuse
    update = clear = clear_edges = refuse


class DiGraph(Graph, nx.DiGraph):
    """A directed graph in tensors, with the methods of networkx's DiGraph that read it; see `Graph`."""

    _plain = nx.DiGraph

    @cached_property
    def _succ(self) -> Mapping[Any, Any]:
        return self._adj

    @cached_property
    def _pred(self) -> Mapping[Any, Any]:
        kept = self._tensors
        arcs = kept.graph.decoded()
        columns = bool(kept.edge_columns) or kept.keys is not None
        places = arcs.transpose_permutation if columns else None
        back = arcs.transpose()
        return Rows(back, self.labels, self.is_multigraph(), kept.back_order, places, kept.edge_columns, kept.keys)

    @cached_property
    def in_degree(self) -> Any:
        """The edges that reach each node, a view as networkx's."""
        return counted(super(Graph, self).in_degree)

    @cached_property
    def out_degree(self) -> Any:
        """The edges that leave each node, a view as networkx's."""
        return counted(super(Graph, self).out_degree)

    @cached_property
    def in_edges(self) -> Any:
        """The edges by the node that they reach, a view as networkx's."""
        return listed(super(Graph, self).in_edges)

    @cached_property
    def out_edges(self) -> Any:
        """The edges by the node that they leave, a view as networkx's."""
        return self.edges

    def reverse(self: G, copy: bool = True) -> G:
        """The graph with every edge reversed."""
        kept = self._tensors
        arcs = kept.graph.decoded()
        number = arcs.transpose_permutation
        found = Adjacency(
            _directed(arcs.transpose()),
            kept.nodes,
            None if copy else kept.back_order,  # networkx adds the edges of a copy in the order of their sources
            kept.order,
            {name: column.take(number) for name, column in kept.edge_columns.items()},
            kept.node_columns,
            None if kept.keys is None else kept.keys[number.cpu().numpy()],
        )
        return type(self).of(found, dict(self.graph) if copy else self.graph)


class MultiGraph(Graph, nx.MultiGraph):
    """An undirected graph with parallel edges in tensors; see `Graph`."""

    _plain = nx.MultiGraph
    _row_view = AdjacencyView

    def has_edge(self, u: Any, v: Any, key: Any = None) -> bool:
        """True where there is an edge from `u` to `v`, of this key if one is given."""
        return Graph.has_edge(self, u, v) if key is None else nx.MultiGraph.has_edge(self, u, v, key)


class MultiDiGraph(DiGraph, nx.MultiDiGraph):
    """A directed graph with parallel edges in tensors; see `Graph`."""

    _plain = nx.MultiDiGraph
    _row_view = AdjacencyView
    has_edge = MultiGraph.has_edge


CLASSES = {
    (cls._plain.is_directed(None), cls._plain.is_multigraph(None)): cls
    for cls in (Graph, DiGraph, MultiGraph, MultiDiGraph)
}
_NO_ATTRIBUTE = object()


def _converted(plain: nx.Graph) -> Graph:
    tensors = adjacency.read(plain, None, None)
    return CLASSES[plain.is_directed(), plain.is_multigraph()].of(tensors, plain.graph)


def _directed(arcs: tg.Graph) -> tg.Graph:
    return tg.Graph(arcs.offset, arcs.neighbors)


def _wrapped(graph: tg.Graph, cls: type[Graph], nodes: Iterable[Any] | None) -> Adjacency:
    """A `tg.Graph` as it is, its weights as the attribute "weight"."""
    directed, multigraph = (kind(None) for kind in (cls.is_directed, cls.is_multigraph))
    if graph.directed != directed:
        fitting = CLASSES[graph.directed, multigraph].__name__
        remedy = f"take tgraph.networkx.{fitting}" + ("" if directed else " or graph.to_undirected()")
        raise nx.NetworkXError(f"the graph is {'' if graph.directed else 'un'}directed; {remedy}")
    if not multigraph and graph.num_parallel_edges:
        fitting = CLASSES[directed, True].__name__
        raise nx.NetworkXError(f"the graph has parallel edges; take tgraph.networkx.{fitting} or merge them")
    weights = None if graph.weight_dtype is None else graph.decoded().weights
    columns = {} if weights is None else {"weight": Column(weights)}
    bare = graph if weights is None and graph.vertices is None else _bare(graph)
    return Adjacency(bare, _names(graph, nodes), edge_columns=columns)


def _names(graph: tg.Graph, nodes: Iterable[Any] | None) -> Sequence[Any]:
    if nodes is None:
        return range(graph.num_vertices) if graph.vertices is None else graph.vertices.tolist()
    names = list(nodes)
    if len(names) != graph.num_vertices or len(set(names)) != len(names):
        found = f"{len(names)}, {len(set(names))} of them different"
        raise nx.NetworkXError(f"nodes: expected {graph.num_vertices} different names, got {found}")
    return names


def _bare(graph: tg.Graph) -> tg.Graph:
    arcs = graph.decoded()
    return tg.Graph(arcs.offset, arcs.neighbors, directed=graph.directed)
