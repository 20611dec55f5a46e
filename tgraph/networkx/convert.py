"""To and from networkx's own graphs, as networkx asks of a backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
from networkx.classes.reportviews import NodeView

from tgraph.io import adjacency
from tgraph.networkx.graph import CLASSES, Graph


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
    tensors = adjacency.read(graph, edges, nodes)
    cls = CLASSES[graph.is_directed(), graph.is_multigraph()]
    return cls.of(tensors, dict(graph.graph) if preserve_graph_attrs else None)


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """A graph of networkx's own where `obj` is one of tensors; all else as it is."""
    return obj.to_networkx() if isinstance(obj, Graph) else obj
