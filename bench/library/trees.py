"""Spanning forests, independent sets and matchings."""

from __future__ import annotations

import numpy as np

import tgraph as tg
from bench.library import Row, close
from bench.library.paths import weighted
from bench.verify import require


def networkit_forest(system, _):
    import networkit

    return networkit.graph.KruskalMSF(system.weighted).run(), system.arrays


def igraph_forest(system, _):
    graph = weighted(system)
    return graph, graph.spanning_tree(weights="weight", return_tree=False)


def scipy_forest(system, _):
    from scipy.sparse import csgraph

    return csgraph.minimum_spanning_tree(system.weighted)


def rustworkx_forest(system, _):
    import rustworkx

    return rustworkx.minimum_spanning_edges(system.graph, weight_fn=float)


def networkit_set(system, _):
    import networkit

    return networkit.independentset.Luby().run(system.graph)


def networkit_suitor(system, _):
    import networkit

    return networkit.matching.SuitorMatcher(system.weighted, False, False).run(), system.weighted


def total(forest):
    return float(forest.weights.sum()) / 2


def networkit_total(found):
    """networkit's forest has no weights, each edge counts 1 in it: those of the graph, found by their ends."""
    run, arrays = found
    source, target, weight = arrays.edges()
    key = np.minimum(source, target).astype(np.int64) * arrays.num_vertices + np.maximum(source, target)
    order = key.argsort()
    ends = np.asarray(list(run.getForest().iterEdges()), dtype=np.int64).reshape(-1, 2)
    chosen = ends.min(axis=1) * arrays.num_vertices + ends.max(axis=1)
    return float(weight[order[np.searchsorted(key[order], chosen)]].sum())


def matched(found):
    mate, graph = found
    arcs = graph.decoded()
    source = np.repeat(np.arange(graph.num_vertices), arcs.out_degree.numpy())
    chosen = mate.numpy()[source] == arcs.neighbors.numpy()
    return float(arcs.weights.numpy()[chosen].sum()) / 2


def half_each(ours, theirs):
    """Each is half of the largest weight at least, and so of the other's."""
    require(
        2 * ours >= theirs and 2 * theirs >= ours, f"weights {ours} and {theirs} cannot both be half of the largest"
    )


def proved_set(found):
    """The size of a set of vertices that is independent, and to which none can be added."""
    chosen, graph = found
    inside = np.zeros(graph.num_vertices, dtype=bool)
    inside[chosen.numpy()] = True
    source = np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy())
    target = graph.neighbors.numpy()
    apart = source != target
    require(not (inside[source] & inside[target] & apart).any(), "two vertices of the set are neighbours")
    covered = inside.copy()
    covered[source[inside[target]]] = True
    require(covered.all(), "a vertex can be added to the set")
    return len(chosen)


def similar_size(ours, theirs):
    """Sets that cannot be extended differ in size, those of random orders little."""
    require(0.8 * theirs <= ours <= 1.25 * theirs, f"{ours} and {theirs} vertices are too far apart")


ROWS = {
    "spanning forest": Row(
        "minimum spanning forest",
        {
            "tgraph": lambda system, _: tg.algorithms.minimum_spanning_forest(system.weighted),
            "networkit": networkit_forest,
            "igraph": igraph_forest,
            "scipy": scipy_forest,
            "rustworkx": rustworkx_forest,
        },
        read={
            "tgraph": total,
            "networkit": networkit_total,
            "igraph": lambda found: sum(found[0].es[found[1]]["weight"]),
            "scipy": lambda forest: float(forest.sum()),
            "rustworkx": lambda edges: sum(edge[2] for edge in edges),
        },
        agree=close,
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
    "independent set": Row(
        "maximal independent set",
        {
            "tgraph": lambda system, _: (tg.algorithms.maximal_independent_set(system.graph), system.graph),
            "networkit": networkit_set,
        },
        read={"tgraph": proved_set, "networkit": sum},
        agree=similar_size,
        quality={"vertices": lambda system, size: float(size)},
        directed=False,
    ),
    "heavy matching": Row(
        "matching of half of the largest weight",
        {
            "tgraph": lambda system, _: (tg.algorithms.heavy_matching(system.weighted), system.weighted),
            "networkit": networkit_suitor,
        },
        read={
            "tgraph": matched,
            "networkit": lambda found: found[0].getMatching().weight(found[1]),
        },
        agree=half_each,
        directed=False,
    ),
}
