"""The calls that are measured: what users of networkx call, with options that end in reasonable time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import networkx as nx

from bench.networkx.given import Given
from bench.networkx.verify import as_independent, as_modular, equal

SMALL, MEDIUM, LARGE = 5_000, 200_000, 2_000_000

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A call of a function of networkx.

    name : as networkx dispatches it. call : (function, G, given) -> result; timed, what it yields included. kind : of
    the graph. most : edges beyond which it is not measured, since its result or its work is quadratic. agree : raises
    WrongResult where our result and networkx's are not both right. title : where the arguments matter.
    """

    name: str
    call: Callable[[Function, nx.Graph, Given], Any]
    kind: str = "undirected"
    most: int = 1 << 62
    agree: Callable[[Given, Any, Any], None] = equal
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or self.name

    @property
    def function(self) -> Function:
        """The function that users call."""
        for module in (nx, nx.community, nx.bipartite):
            if hasattr(module, self.name):
                return getattr(module, self.name)
        raise AttributeError(self.name)

    def run(self, G: nx.Graph, given: Given, **options: Any) -> Any:
        return self.call(partial(self.function, **options), G, given)


def plain(f: Function, G: nx.Graph, given: Given) -> Any:
    return f(G)


def listed(f: Function, G: nx.Graph, given: Given) -> Any:
    return list(f(G))


CASES = [
    # links
    Case("pagerank", plain),
    Case("pagerank", lambda f, G, x: f(G, personalization={x.source: 1}), "directed", title="pagerank, personalized"),
    Case("hits", plain, "directed"),
    # centralities
    Case("degree_centrality", plain),
    Case("in_degree_centrality", plain, "directed"),
    Case("betweenness_centrality", lambda f, G, x: f(G, k=8, seed=1), title="betweenness_centrality, k=8"),
    Case("betweenness_centrality", plain, most=SMALL, title="betweenness_centrality, all"),
    Case("edge_betweenness_centrality", lambda f, G, x: f(G, k=8, seed=1), title="edge_betweenness_centrality, k=8"),
    Case("closeness_centrality", plain, most=MEDIUM, title="closeness_centrality, all"),
    Case("closeness_centrality", lambda f, G, x: f(G, u=x.source), title="closeness_centrality, a node"),
    Case("harmonic_centrality", lambda f, G, x: f(G, nbunch=x.some), title="harmonic_centrality, ten nodes"),
    Case("eigenvector_centrality", lambda f, G, x: f(G, max_iter=1000)),
    Case("katz_centrality", lambda f, G, x: f(G, alpha=1e-4)),
    Case("average_neighbor_degree", plain),
    # searches and paths
    Case("bfs_edges", lambda f, G, x: list(f(G, x.source))),
    Case("bfs_tree", lambda f, G, x: f(G, x.source)),
    Case("dfs_preorder_nodes", lambda f, G, x: list(f(G, x.source))),
    Case("descendants", lambda f, G, x: f(G, x.source), "directed"),
    Case("ancestors", lambda f, G, x: f(G, x.source), "directed"),
    Case("has_path", lambda f, G, x: f(G, x.source, x.target)),
    Case("shortest_path", lambda f, G, x: f(G, x.source, x.target), title="shortest_path, s-t"),
    Case("single_source_shortest_path", lambda f, G, x: f(G, x.source)),
    Case("single_source_shortest_path_length", lambda f, G, x: dict(f(G, x.source))),
    Case("single_source_dijkstra", lambda f, G, x: f(G, x.source)),
    Case("single_source_dijkstra_path_length", lambda f, G, x: f(G, x.source)),
    Case("dijkstra_path", lambda f, G, x: f(G, x.source, x.target), title="dijkstra_path, s-t"),
    Case("single_source_bellman_ford_path_length", lambda f, G, x: f(G, x.source)),
    Case("all_pairs_shortest_path_length", lambda f, G, x: dict(f(G)), most=SMALL),
    Case("diameter", plain, "connected", most=SMALL),
    Case("eccentricity", plain, "connected", most=SMALL),
    Case("average_shortest_path_length", plain, "connected", most=SMALL),
    # components and orders
    Case("connected_components", listed),
    Case("number_connected_components", plain),
    Case("node_connected_component", lambda f, G, x: f(G, x.source)),
    Case("strongly_connected_components", listed, "directed"),
    Case("weakly_connected_components", listed, "directed"),
    Case("condensation", plain, "directed"),
    Case("topological_sort", listed, "dag"),
    Case("topological_generations", listed, "dag"),
    Case("is_directed_acyclic_graph", plain, "dag"),
    # cohesion
    Case("triangles", plain),
    Case("clustering", plain),
    Case("average_clustering", plain),
    Case("transitivity", plain),
    Case("core_number", plain),
    Case("k_core", lambda f, G, x: f(G, k=16)),
    Case("k_truss", lambda f, G, x: f(G, k=6)),
    # communities
    Case("louvain_communities", lambda f, G, x: f(G, seed=1), agree=as_modular),
    Case("modularity", lambda f, G, x: f(G, x.parts)),
    Case("cut_size", lambda f, G, x: f(G, x.parts[0])),
    # pairs
    *(
        Case(name, lambda f, G, x: list(f(G, x.pairs)), title=f"{name}, 10k pairs")
        for name in ("jaccard_coefficient", "adamic_adar_index", "resource_allocation_index")
    ),
    # degrees, matrices, graphs
    Case("isolates", listed),
    Case("reciprocity", plain, "directed"),
    Case("to_scipy_sparse_array", plain),
    Case("laplacian_matrix", plain),
    Case("to_numpy_array", plain, most=SMALL),
    Case("ego_graph", lambda f, G, x: f(G, x.some[0], radius=1)),
    Case("reverse", lambda f, G, x: f(G, copy=True), "directed"),
    Case("complement", plain, most=SMALL),
    # sets, trees, colours, flows
    Case("is_bipartite", plain),
    Case("greedy_color", plain),
    Case("minimum_spanning_edges", lambda f, G, x: list(f(G))),
    Case("maximal_independent_set", lambda f, G, x: f(G, seed=1), agree=as_independent),
    Case("label_propagation_communities", lambda f, G, x: list(f(G)), agree=as_modular),
    Case("maximum_flow_value", lambda f, G, x: f(G, x.source, x.target, capacity="weight"), most=SMALL),
]
