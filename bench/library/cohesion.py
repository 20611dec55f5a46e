"""Triangles, cliques, cores and clusterings beyond those of `bench.analytics`."""

from __future__ import annotations

from bench.library import Call, Row, close, method

SLOW = 1 << 22  # arcs

ROWS = {
    "local clustering": Row(
        "local clustering coefficients",
        {
            "tgraph": "local_clustering",
            "networkit": Call("centrality.LocalClusteringCoefficient", True),
            "igraph": Call("transitivity_local_undirected", mode="zero"),
        },
        read={"networkit": method("scores")},
        agree=close,
        directed=False,
    ),
    "transitivity": Row(
        "transitivity",
        {"tgraph": "transitivity", "igraph": Call("transitivity_undirected", mode="zero")},
        agree=close,
        directed=False,
    ),
    "square clustering": Row(
        "square clustering",
        {"tgraph": "square_clustering", "networkit": "centrality.LocalSquareClusteringCoefficient"},
        read={"networkit": method("scores")},
        agree=close,
        directed=False,
        largest={"networkit": SLOW},
    ),
    "max clique": Row(
        "the largest clique",
        {"tgraph": "max_clique", "igraph": "clique_number"},
        read={"tgraph": len},
        directed=False,
        largest={"igraph": SLOW},
    ),
    "maximal cliques": Row(
        "number of maximal cliques",
        {"tgraph": "maximal_clique_sizes", "igraph": lambda system, _: len(system.graph.maximal_cliques())},
        read={"tgraph": lambda sizes: int(sizes.sum())},
        directed=False,
        largest={"igraph": SLOW},
    ),
    "triads": Row(
        "triad census",
        {"tgraph": "triadic_census", "igraph": "triad_census"},
        read={"tgraph": lambda census: sorted(census.values()), "igraph": sorted},
        directed=True,
    ),
}
