"""The commands that run algorithms, by topic: one for everything in tgraph.algorithms."""

from __future__ import annotations

from typing import Any

from tgraph.cli.command import Algorithm
from tgraph.cli.results import edges, subsets, vertices, whole


def _any(found: Any) -> bool:
    """A path or a cycle that is there."""
    return len(found) > 0


def _one(component: Any) -> bool:
    """All vertices in one component."""
    return len(component.unique()) == 1


SOLVERS = {"method": ("auto", "dense", "cg")}

# By the heading under which the command lists them.
TOPICS: dict[str, dict[str, Algorithm]] = {
    "Searches and paths": {
        "bfs": Algorithm("bfs", vertices.DEPTHS, "source max_depth"),
        "sssp": Algorithm("sssp", vertices.DISTANCES, "source delta"),
        "path": Algorithm("shortest_path", subsets.PATH, "source target weighted", holds=_any),
        "paths": Algorithm("k_shortest_paths", subsets.PATHS, "source target count weighted"),
        "predecessors": Algorithm("predecessors", whole.ARCS, "source weighted"),
        "bellman-ford": Algorithm("bellman_ford", vertices.TREE, "source"),
        "negative-cycle": Algorithm("negative_cycle", subsets.NEGATIVE_CYCLE, holds=_any),
        "widest": Algorithm("widest_path", vertices.WIDTHS, "source"),
        "floyd-warshall": Algorithm("floyd_warshall", edges.ALL_DISTANCES),
    },
    "Distances": {
        "eccentricity": Algorithm("eccentricity", vertices.SPAN, "weighted"),
        "diameter": Algorithm("diameter", whole.number("diameter"), "weighted"),
        "radius": Algorithm("radius", whole.number("radius"), "weighted"),
        "center": Algorithm("center", subsets.VERTICES, "weighted"),
        "periphery": Algorithm("periphery", subsets.VERTICES, "weighted"),
    },
    "Flows": {
        "flow": Algorithm("maximum_flow", edges.FLOW, "source target"),
        "cut": Algorithm("minimum_cut", vertices.cut("source_side", "capacity", "source's side"), "source target"),
        "global-cut": Algorithm("stoer_wagner", vertices.cut("side", "weight", "one side")),
    },
    "Components": {
        "wcc": Algorithm("wcc", vertices.COMPONENTS, holds=_one),
        "scc": Algorithm("scc", vertices.COMPONENTS, holds=_one),
        "condensation": Algorithm("condensation", vertices.CONDENSED),
        "attracting": Algorithm("attracting_components", vertices.ATTRACTING),
        "biconnected": Algorithm("biconnected_components", subsets.parts("component", "biconnected component")),
        "articulation": Algorithm("articulation_points", subsets.VERTICES),
        "bridges": Algorithm("bridges", edges.PAIRS),
    },
    "Graphs without cycles": {
        "topological": Algorithm(
            "topological_sort", subsets.VERTICES, holds=lambda order: True, refused="it has a cycle"
        ),
        "generations": Algorithm("topological_generations", vertices.GENERATIONS),
        "cycle": Algorithm("find_cycle", subsets.CYCLE, holds=_any),
        "longest-path": Algorithm("dag_longest_path", subsets.PATH, "weighted"),
        "transitive-closure": Algorithm("transitive_closure", whole.ARCS),
        "transitive-reduction": Algorithm("transitive_reduction", whole.ARCS),
    },
    "Colourings": {
        "color": Algorithm(
            "greedy_color",
            vertices.colors("color"),
            "strategy seed",
            {"strategy": ("largest_first", "smallest_last", "random_sequential")},
        ),
        "bipartite": Algorithm(
            "bipartite_color", vertices.colors("side"), holds=lambda side: True, refused="not bipartite"
        ),
        "odd-cycle": Algorithm("odd_cycle", subsets.CYCLE, holds=_any),
    },
    "Centralities": {
        "pagerank": Algorithm("pagerank", vertices.scores("rank"), "damping tol max_iterations weighted"),
        "hits": Algorithm("hits", vertices.HUBS, "tol max_iterations weighted"),
        "betweenness": Algorithm("betweenness", vertices.scores("betweenness"), "k seed normalized weighted endpoints"),
        "approximate-betweenness": Algorithm("approximate_betweenness", vertices.scores("betweenness"), "epsilon seed"),
        "edge-betweenness": Algorithm("edge_betweenness", edges.by_edge("betweenness"), "k seed normalized weighted"),
        "load": Algorithm("load", vertices.scores("load"), "weighted normalized"),
        "percolation": Algorithm("percolation", vertices.scores("percolation"), "weighted"),
        "degree": Algorithm(
            "degree_centrality", vertices.scores("degree"), "direction", {"direction": ("both", "in", "out")}
        ),
        "closeness": Algorithm("closeness", vertices.scores("closeness"), "weighted wf_improved"),
        "harmonic": Algorithm("harmonic", vertices.scores("harmonic"), "weighted"),
        "eigenvector": Algorithm("eigenvector", vertices.scores("eigenvector"), "tol max_iterations weighted"),
        "katz": Algorithm("katz", vertices.scores("katz"), "alpha beta tol max_iterations normalized weighted"),
        "laplacian": Algorithm("laplacian_centrality", vertices.scores("laplacian"), "normalized weighted"),
        "subgraph": Algorithm(
            "subgraph_centrality",
            vertices.scores("subgraph"),
            "normalized method",
            {"method": ("auto", "dense", "lanczos")},
        ),
        "current-flow-closeness": Algorithm(
            "current_flow_closeness", vertices.scores("closeness"), "weighted method", SOLVERS
        ),
        "current-flow-betweenness": Algorithm(
            "current_flow_betweenness", vertices.scores("betweenness"), "weighted normalized method", SOLVERS
        ),
        "edge-current-flow-betweenness": Algorithm(
            "edge_current_flow_betweenness", edges.by_edge("betweenness"), "weighted normalized method", SOLVERS
        ),
    },
    "Communities": {
        "communities": Algorithm("cdlp", vertices.COMMUNITIES, "iterations"),
        "label-propagation": Algorithm("label_propagation", vertices.PARTITION, "weighted seed iterations"),
        "semi-synchronous-label-propagation": Algorithm(
            "semi_synchronous_label_propagation", vertices.PARTITION, "weighted iterations"
        ),
        "ecg": Algorithm("ecg", vertices.PARTITION, "weighted min_weight ensemble_size resolution seed"),
        "louvain": Algorithm("louvain", vertices.PARTITION, "weighted resolution seed max_level"),
        "leiden": Algorithm("leiden", vertices.PARTITION, "weighted resolution seed iterations"),
    },
    "Cohesion": {
        "triangles": Algorithm("triangle_count", vertices.TRIANGLES, given={"per_vertex": True}),
        "clustering": Algorithm("local_clustering", vertices.CLUSTERING),
        "directed-clustering": Algorithm("clustering", vertices.CLUSTERING, "weighted"),
        "square-clustering": Algorithm("square_clustering", vertices.CLUSTERING),
        "transitivity": Algorithm("transitivity", whole.number("transitivity", "value")),
        "cores": Algorithm("core_number", vertices.CORES),
        "onion": Algorithm("onion_layers", vertices.scores("layer")),
        "trusses": Algorithm("truss_number", edges.TRUSSES),
        "cliques": Algorithm("maximal_cliques", subsets.parts("clique", "maximal clique")),
        "max-clique": Algorithm("max_clique", subsets.subset("a clique")),
        "densest": Algorithm("densest_subgraph", subsets.DENSEST, "method", {"method": ("greedy", "exact")}),
        "motifs": Algorithm("motif_counts", whole.COUNTS),
        "triads": Algorithm("triadic_census", whole.COUNTS),
        "rich-club": Algorithm("rich_club_coefficient", whole.by_index("degree")),
    },
    "Trees, sets and matchings": {
        "spanning-forest": Algorithm("minimum_spanning_forest", whole.SUBGRAPH),
        "independent-set": Algorithm("maximal_independent_set", subsets.subset("an independent set"), "seed"),
        "dominating-set": Algorithm("dominating_set", subsets.subset("a dominating set")),
        "vertex-cover": Algorithm("vertex_cover", subsets.subset("a cover"), "seed"),
        "bipartite-cover": Algorithm("minimum_vertex_cover", subsets.subset("a cover")),
        "matching": Algorithm("maximal_matching", edges.MATCHING, "seed"),
        "heavy-matching": Algorithm("heavy_matching", edges.MATCHING),
        "bipartite-matching": Algorithm("maximum_bipartite_matching", edges.MATCHING),
    },
    "Similarity": {
        "similar": Algorithm("most_similar", edges.SIMILAR, "count measure new_links"),
        "simrank": Algorithm("simrank", edges.MATRIX, "importance_factor max_iterations tol weighted"),
        "approximate-simrank": Algorithm(
            "approximate_simrank", vertices.scores("similarity"), "source importance_factor epsilon seed"
        ),
    },
    "Structure": {
        "ego": Algorithm("ego_graph", whole.ARCS, "source radius"),
        "complement": Algorithm("complement", whole.ARCS),
        "line": Algorithm("line_graph", whole.LINE_GRAPH),
        "degrees": Algorithm("degree_distribution", whole.DEGREES),
        "assortativity": Algorithm(
            "degree_assortativity", whole.number("degree assortativity", "assortativity"), "weighted"
        ),
        "neighbor-degree": Algorithm("average_neighbor_degree", vertices.scores("degree"), "weighted"),
        "reciprocity": Algorithm("reciprocity", whole.number("reciprocity")),
    },
    "Walks": {
        "random-walks": Algorithm("random_walks", subsets.WALKS, "length walks weighted seed"),
        "node2vec-walks": Algorithm("node2vec_walks", subsets.WALKS, "length p q walks weighted seed"),
        "walks-with-restart": Algorithm("walks_with_restart", subsets.WALKS, "length restart walks weighted seed"),
    },
    "Embeddings": {
        "node2vec": Algorithm("node2vec", vertices.POINTS, "dimensions p q length walks window epochs weighted seed"),
        "spectral-embedding": Algorithm(
            "spectral_embedding", vertices.SPECTRUM, "dimensions weighted tol max_iterations"
        ),
    },
}
