"""The commands that run algorithms, by topic: one for everything in tgraph.algorithms."""

from __future__ import annotations

from tgraph.cli.command import Algorithm
from tgraph.cli.results.edges import ALL_DISTANCES, FLOW, MATCHING, MATRIX, PAIRS, SIMILAR, TRUSSES, by_edge
from tgraph.cli.results.subsets import CYCLE, DENSEST, NEGATIVE_CYCLE, PATH, PATHS, VERTICES, WALKS, parts, subset
from tgraph.cli.results.vertices import (
    ATTRACTING,
    CLUSTERING,
    COMMUNITIES,
    COMPONENTS,
    CONDENSED,
    CORES,
    DEPTHS,
    DISTANCES,
    GENERATIONS,
    HUBS,
    PARTITION,
    POINTS,
    SPAN,
    SPECTRUM,
    TREE,
    TRIANGLES,
    WIDTHS,
    colors,
    cut,
    scores,
)
from tgraph.cli.results.whole import ARCS, COUNTS, DEGREES, LINE_GRAPH, SUBGRAPH, by_index, number

SOLVERS = {"method": ("auto", "dense", "cg")}

# By the heading under which the command lists them.
TOPICS: dict[str, dict[str, Algorithm]] = {
    "Searches and paths": {
        "bfs": Algorithm("bfs", DEPTHS, "source max_depth"),
        "sssp": Algorithm("sssp", DISTANCES, "source delta"),
        "path": Algorithm("shortest_path", PATH, "source target weighted"),
        "paths": Algorithm("k_shortest_paths", PATHS, "source target count weighted"),
        "predecessors": Algorithm("predecessors", ARCS, "source weighted"),
        "bellman-ford": Algorithm("bellman_ford", TREE, "source"),
        "negative-cycle": Algorithm("negative_cycle", NEGATIVE_CYCLE),
        "widest": Algorithm("widest_path", WIDTHS, "source"),
        "floyd-warshall": Algorithm("floyd_warshall", ALL_DISTANCES),
    },
    "Distances": {
        "eccentricity": Algorithm("eccentricity", SPAN, "weighted"),
        "diameter": Algorithm("diameter", number("diameter"), "weighted"),
        "radius": Algorithm("radius", number("radius"), "weighted"),
        "center": Algorithm("center", VERTICES, "weighted"),
        "periphery": Algorithm("periphery", VERTICES, "weighted"),
    },
    "Flows": {
        "flow": Algorithm("maximum_flow", FLOW, "source target"),
        "cut": Algorithm("minimum_cut", cut("source_side", "capacity", "source's side"), "source target"),
        "global-cut": Algorithm("stoer_wagner", cut("side", "weight", "one side")),
    },
    "Components": {
        "wcc": Algorithm("wcc", COMPONENTS),
        "scc": Algorithm("scc", COMPONENTS),
        "condensation": Algorithm("condensation", CONDENSED),
        "attracting": Algorithm("attracting_components", ATTRACTING),
        "biconnected": Algorithm("biconnected_components", parts("component", "biconnected component")),
        "articulation": Algorithm("articulation_points", VERTICES),
        "bridges": Algorithm("bridges", PAIRS),
    },
    "Graphs without cycles": {
        "topological": Algorithm("topological_sort", VERTICES),
        "generations": Algorithm("topological_generations", GENERATIONS),
        "cycle": Algorithm("find_cycle", CYCLE),
        "longest-path": Algorithm("dag_longest_path", PATH, "weighted"),
        "transitive-closure": Algorithm("transitive_closure", ARCS),
        "transitive-reduction": Algorithm("transitive_reduction", ARCS),
    },
    "Colourings": {
        "color": Algorithm(
            "greedy_color",
            colors("color"),
            "strategy seed",
            {"strategy": ("largest_first", "smallest_last", "random_sequential")},
        ),
        "bipartite": Algorithm("bipartite_color", colors("side")),
        "odd-cycle": Algorithm("odd_cycle", CYCLE),
    },
    "Centralities": {
        "pagerank": Algorithm("pagerank", scores("rank"), "damping tol max_iterations weighted"),
        "hits": Algorithm("hits", HUBS, "tol max_iterations weighted"),
        "betweenness": Algorithm("betweenness", scores("betweenness"), "k seed normalized weighted endpoints"),
        "approximate-betweenness": Algorithm("approximate_betweenness", scores("betweenness"), "epsilon seed"),
        "edge-betweenness": Algorithm("edge_betweenness", by_edge("betweenness"), "k seed normalized weighted"),
        "load": Algorithm("load", scores("load"), "weighted normalized"),
        "percolation": Algorithm("percolation", scores("percolation"), "weighted"),
        "degree": Algorithm("degree_centrality", scores("degree"), "direction", {"direction": ("both", "in", "out")}),
        "closeness": Algorithm("closeness", scores("closeness"), "weighted wf_improved"),
        "harmonic": Algorithm("harmonic", scores("harmonic"), "weighted"),
        "eigenvector": Algorithm("eigenvector", scores("eigenvector"), "tol max_iterations weighted"),
        "katz": Algorithm("katz", scores("katz"), "alpha beta tol max_iterations normalized weighted"),
        "laplacian": Algorithm("laplacian_centrality", scores("laplacian"), "normalized weighted"),
        "subgraph": Algorithm(
            "subgraph_centrality", scores("subgraph"), "normalized method", {"method": ("auto", "dense", "lanczos")}
        ),
        "current-flow-closeness": Algorithm("current_flow_closeness", scores("closeness"), "weighted method", SOLVERS),
        "current-flow-betweenness": Algorithm(
            "current_flow_betweenness", scores("betweenness"), "weighted normalized method", SOLVERS
        ),
        "edge-current-flow-betweenness": Algorithm(
            "edge_current_flow_betweenness", by_edge("betweenness"), "weighted normalized method", SOLVERS
        ),
    },
    "Communities": {
        "communities": Algorithm("cdlp", COMMUNITIES, "iterations"),
        "label-propagation": Algorithm("label_propagation", PARTITION, "weighted seed iterations"),
        "semi-synchronous-label-propagation": Algorithm(
            "semi_synchronous_label_propagation", PARTITION, "weighted iterations"
        ),
        "ecg": Algorithm("ecg", PARTITION, "weighted min_weight ensemble_size resolution seed"),
        "louvain": Algorithm("louvain", PARTITION, "weighted resolution seed max_level"),
        "leiden": Algorithm("leiden", PARTITION, "weighted resolution seed iterations"),
    },
    "Cohesion": {
        "triangles": Algorithm("triangle_count", TRIANGLES, given={"per_vertex": True}),
        "clustering": Algorithm("local_clustering", CLUSTERING),
        "directed-clustering": Algorithm("clustering", CLUSTERING, "weighted"),
        "square-clustering": Algorithm("square_clustering", CLUSTERING),
        "transitivity": Algorithm("transitivity", number("transitivity", "value")),
        "cores": Algorithm("core_number", CORES),
        "onion": Algorithm("onion_layers", scores("layer")),
        "trusses": Algorithm("truss_number", TRUSSES),
        "cliques": Algorithm("maximal_cliques", parts("clique", "maximal clique")),
        "max-clique": Algorithm("max_clique", subset("a clique")),
        "densest": Algorithm("densest_subgraph", DENSEST, "method", {"method": ("greedy", "exact")}),
        "motifs": Algorithm("motif_counts", COUNTS),
        "triads": Algorithm("triadic_census", COUNTS),
        "rich-club": Algorithm("rich_club_coefficient", by_index("degree")),
    },
    "Trees, sets and matchings": {
        "spanning-forest": Algorithm("minimum_spanning_forest", SUBGRAPH),
        "independent-set": Algorithm("maximal_independent_set", subset("an independent set"), "seed"),
        "dominating-set": Algorithm("dominating_set", subset("a dominating set")),
        "vertex-cover": Algorithm("vertex_cover", subset("a cover"), "seed"),
        "bipartite-cover": Algorithm("minimum_vertex_cover", subset("a cover")),
        "matching": Algorithm("maximal_matching", MATCHING, "seed"),
        "heavy-matching": Algorithm("heavy_matching", MATCHING),
        "bipartite-matching": Algorithm("maximum_bipartite_matching", MATCHING),
    },
    "Similarity": {
        "similar": Algorithm("most_similar", SIMILAR, "count measure new_links"),
        "simrank": Algorithm("simrank", MATRIX, "importance_factor max_iterations tol weighted"),
        "approximate-simrank": Algorithm(
            "approximate_simrank", scores("similarity"), "source importance_factor epsilon seed"
        ),
    },
    "Structure": {
        "ego": Algorithm("ego_graph", ARCS, "source radius"),
        "complement": Algorithm("complement", ARCS),
        "line": Algorithm("line_graph", LINE_GRAPH),
        "degrees": Algorithm("degree_distribution", DEGREES),
        "assortativity": Algorithm("degree_assortativity", number("degree assortativity", "assortativity"), "weighted"),
        "neighbor-degree": Algorithm("average_neighbor_degree", scores("degree"), "weighted"),
        "reciprocity": Algorithm("reciprocity", number("reciprocity")),
    },
    "Walks": {
        "random-walks": Algorithm("random_walks", WALKS, "length walks weighted seed"),
        "node2vec-walks": Algorithm("node2vec_walks", WALKS, "length p q walks weighted seed"),
        "walks-with-restart": Algorithm("walks_with_restart", WALKS, "length restart walks weighted seed"),
    },
    "Embeddings": {
        "node2vec": Algorithm("node2vec", POINTS, "dimensions p q length walks window epochs weighted seed"),
        "spectral-embedding": Algorithm("spectral_embedding", SPECTRUM, "dimensions weighted tol max_iterations"),
    },
}
