"""Triangles, cliques, cores and clusterings beyond those of `bench.analytics`."""

from __future__ import annotations

import numpy as np

import tgraph as tg
from bench.library import Row, close, equal


def networkit_squares(system, _):
    import networkit

    return networkit.centrality.LocalSquareClusteringCoefficient(system.graph).run()


def networkit_clustering(system, _):
    import networkit

    return networkit.centrality.LocalClusteringCoefficient(system.graph, True).run()


ROWS = {
    "local clustering": Row(
        "local clustering coefficients",
        {
            "tgraph": lambda system, _: tg.algorithms.local_clustering(system.graph),
            "networkit": networkit_clustering,
            "igraph": lambda system, _: system.graph.transitivity_local_undirected(mode="zero"),
        },
        read={"networkit": lambda run: np.asarray(run.scores())},
        agree=close,
        directed=False,
    ),
    "transitivity": Row(
        "transitivity",
        {
            "tgraph": lambda system, _: tg.algorithms.transitivity(system.graph),
            "igraph": lambda system, _: system.graph.transitivity_undirected(mode="zero"),
        },
        agree=close,
        directed=False,
    ),
    "square clustering": Row(
        "square clustering",
        {
            "tgraph": lambda system, _: tg.algorithms.square_clustering(system.graph),
            "networkit": networkit_squares,
        },
        read={"networkit": lambda run: np.asarray(run.scores())},
        agree=close,
        directed=False,
        largest={"networkit": 1 << 22},
    ),
    "max clique": Row(
        "the largest clique",
        {
            "tgraph": lambda system, _: tg.algorithms.max_clique(system.graph),
            "igraph": lambda system, _: system.graph.clique_number(),
        },
        read={"tgraph": len},
        agree=equal,
        directed=False,
        largest={"igraph": 1 << 22},
    ),
    "maximal cliques": Row(
        "number of maximal cliques",
        {
            "tgraph": lambda system, _: tg.algorithms.maximal_clique_sizes(system.graph),
            "igraph": lambda system, _: len(system.graph.maximal_cliques()),
        },
        read={"tgraph": lambda sizes: int(sizes.sum())},
        agree=equal,
        directed=False,
        largest={"igraph": 1 << 22},
    ),
    "triads": Row(
        "triad census",
        {
            "tgraph": lambda system, _: tg.algorithms.triadic_census(system.graph),
            "igraph": lambda system, _: system.graph.triad_census(),
        },
        read={"tgraph": lambda census: sorted(census.values()), "igraph": sorted},
        agree=equal,
        directed=True,
    ),
}
