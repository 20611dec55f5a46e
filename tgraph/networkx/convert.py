"""To and from networkx's own graphs, as networkx asks of a backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
from networkx.classes.reportviews import NodeView

from tgraph.io import adjacency
from tgraph.networkx.graph import CLASSES, Graph
from tgraph.networkx.thresholds import threads_for


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[Any, Any] | None = None,
    node_attrs: Mapping[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """The graph in tensors, with the attributes that a call needs.

    edge_attrs, node_attrs : these by name; the defaults are those of the call, which fills them in itself.
    preserve_edge_attrs, preserve_node_attrs : all of them. Raises TypeError for what is no graph of networkx.
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, NodeView):
        nodes = graph
        graph = object.__new__(nx.Graph)
        graph.__init__()
        graph.add_nodes_from(nodes.items())
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"{graph_name or 'graph'}: expected a graph of networkx, got {type(graph).__name__}")
    edges = None if preserve_edge_attrs else tuple(edge_attrs or ())
    nodes = None if preserve_node_attrs else tuple(node_attrs or ())
    cls = CLASSES[graph.is_directed(), graph.is_multigraph()]
    if type(graph).adj is not cls._plain.adj:  # a class whose neighbours are not those in its dicts
        graph = _listed(graph, cls)
    with threads_for(graph):
        tensors = adjacency.read(graph, edges, nodes)
    return cls.of(tensors, dict(graph.graph) if preserve_graph_attrs else None)


def _listed(graph: nx.Graph, cls: type[Graph]) -> nx.Graph:
    """networkx's own graph with the neighbours that `graph.adj` gives, without attributes of edges."""
    plain = object.__new__(cls._plain)
    plain.__init__(**graph.graph)
    plain.add_nodes_from(graph.nodes(data=True))
    plain.add_edges_from((u, v) for u, neighbours in graph.adj.items() for v in neighbours)
    return plain


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """A graph of networkx's own where `obj` is one of tensors; all else as it is."""
    return obj.to_networkx() if isinstance(obj, Graph) else obj
