"""Conversion to and from networkx's own graphs, as networkx calls it.

networkx caches converted graphs in `G.__networkx_cache__`, for each set of attributes in calls, and empties this cache
in every method that changes a graph (`add_edge`, `remove_node`, `update`, `clear` ...) and in
`set_edge_attributes` and `set_node_attributes`. It does not see changes of a dict of attributes, such as
`G[u][v]["weight"] = 2` or `G.nodes[v]["size"] = 1`, nor `remove_edge_attributes`: after these, empty it by hand, with
`G.__networkx_cache__.clear()`, set the attribute by `G.add_edge(u, v, weight=2)` or `networkx.set_edge_attributes`, or
keep nothing at all with `networkx.config.cache_converted_graphs = False`.
"""

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
    """The graph in tensors, with the attributes for a call.

    edge_attrs, node_attrs : these by name; the defaults are those of the call, which fills them in itself.
    preserve_edge_attrs, preserve_node_attrs : all of them. Raises TypeError for an object that is no graph of networkx.
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
    if type(graph).adj is not cls._plain.adj:  # a class whose neighbours differ from its dicts
        graph = _listed(graph, cls)
    with threads_for(graph):
        tensors = adjacency.read(graph, edges, nodes)
    kept = graph.graph if preserve_graph_attrs else {"name"} & graph.graph.keys()  # messages name the graph
    return cls.of(tensors, {key: graph.graph[key] for key in kept})


def _listed(graph: nx.Graph, cls: type[Graph]) -> nx.Graph:
    """networkx's own graph with the neighbours that `graph.adj` gives, without attributes of edges."""
    plain = object.__new__(cls._plain)
    plain.__init__(**graph.graph)
    plain.add_nodes_from(graph.nodes(data=True))
    plain.add_edges_from((u, v) for u, neighbours in graph.adj.items() for v in neighbours)
    return plain


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """A graph of networkx's own for one of tensors; other objects as they are."""
    return obj.to_networkx() if isinstance(obj, Graph) else obj
