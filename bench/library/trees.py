"""Spanning forests, independent sets and matchings."""

from __future__ import annotations

from typing import Any

import numpy as np

import tgraph as tg
from bench.library import Call, Row, close, ends, nk
from bench.verify import require


def networkit_forest(system: Any, _: Any) -> Any:
    return nk.graph.KruskalMSF(system.weighted).run(), system.arrays


def igraph_forest(system: Any, _: Any) -> Any:
    return system.weighted, system.weighted.spanning_tree(weights="weight", return_tree=False)


def networkit_set(system: Any, _: Any) -> Any:
    return nk.independentset.Luby().run(system.graph)


def networkit_suitor(system: Any, _: Any) -> Any:
    return nk.matching.SuitorMatcher(system.weighted, False, False).run(), system.weighted


def networkit_total(found: Any) -> float:
    """networkit's forest has no weights, each edge counts 1 in it: those of the graph, found by their ends."""
    run, arrays = found
    source, target, weight = arrays.edges()
    key = np.minimum(source, target).astype(np.int64) * arrays.num_vertices + np.maximum(source, target)
    order = key.argsort()
    pairs = np.asarray(list(run.getForest().iterEdges()), dtype=np.int64).reshape(-1, 2)
    chosen = pairs.min(axis=1) * arrays.num_vertices + pairs.max(axis=1)
    return float(weight[order[np.searchsorted(key[order], chosen)]].sum())


def matched(found: Any) -> float:
    mate, graph = found
    arcs = graph.decoded()
    source, target = ends(arcs)
    return float(arcs.weights.numpy()[mate.numpy()[source] == target].sum()) / 2


def half_each(ours: float, theirs: float) -> None:
    """Each is half of the largest weight at least, and so of the other's."""
    possible = 2 * ours >= theirs and 2 * theirs >= ours
    require(possible, f"weights {ours} and {theirs} cannot both be half of the largest")


def proved_set(found: Any) -> int:
    """The size of a set of vertices that is independent, and to which none can be added."""
    chosen, graph = found
    inside = np.zeros(graph.num_vertices, dtype=bool)
    inside[chosen.numpy()] = True
    source, target = ends(graph)
    apart = source != target
    require(not (inside[source] & inside[target] & apart).any(), "two vertices of the set are neighbours")
    covered = inside.copy()
    covered[source[inside[target]]] = True
    require(covered.all(), "a vertex can be added to the set")
    return len(chosen)


def similar_size(ours: int, theirs: int) -> None:
    """Sets that cannot be extended differ in size, those of random orders little."""
    require(0.8 * theirs <= ours <= 1.25 * theirs, f"{ours} and {theirs} vertices are too far apart")


ROWS = {
    "spanning forest": Row(
        "minimum spanning forest",
        {
            "tgraph": Call("minimum_spanning_forest", of="weighted"),
            "networkit": networkit_forest,
            "igraph": igraph_forest,
            "scipy": Call("minimum_spanning_tree", of="weighted"),
            "rustworkx": Call("minimum_spanning_edges", weight_fn=float),
        },
        read={
            "tgraph": lambda forest: float(forest.weights.sum()) / 2,
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
        read={"tgraph": matched, "networkit": lambda found: found[0].getMatching().weight(found[1])},
        agree=half_each,
        directed=False,
    ),
}
