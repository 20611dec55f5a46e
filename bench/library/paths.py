"""Shortest paths."""

from __future__ import annotations

from functools import partial
from typing import Any

import networkit as nk
import numpy as np
import rustworkx as rx
from scipy.sparse import csgraph

import tgraph as tg
from bench.arrays import Description
from bench.library import Row, close, equal

SLOW = 3_000_000  # arcs


def pairs(description: Description) -> list[Any]:
    """Where paths lead from and to."""
    sources = description.sources
    return list(zip(sources, sources[1:] + sources[:1], strict=True))


def sources(description: Description) -> list[Any]:
    return list(description.sources)


def bidirectional(kind: str, attribute: str, system: Any, ends: tuple[int, int]) -> Any:
    run = getattr(nk.distance, kind)(getattr(system, attribute), *ends)
    run.run()
    return run


def weighted(system: Any) -> Any:
    """igraph's graph with weights, which it has as an attribute of edges."""
    if "weight" not in system.graph.es.attributes():
        system.prepare()
    return system.graph


def length(weights: str | None, system: Any, ends: tuple[int, int]) -> Any:
    """Of the edges of igraph's path."""
    graph = weighted(system)
    edges = graph.get_shortest_paths(ends[0], to=ends[1], weights=weights, output="epath")[0]
    return sum(graph.es[edges]["weight"]) if weights else len(edges)


def rustworkx_path(weight: Any, system: Any, ends: tuple[int, int]) -> Any:
    return rx.dijkstra_shortest_path_lengths(system.graph, ends[0], weight, goal=ends[1])[ends[1]]


def distance_only(result: Any) -> np.ndarray:
    return np.asarray(result[0] if isinstance(result, tuple) else result, dtype=np.float64)


ROWS = {
    "hops": Row(
        "a path of fewest arcs between two vertices",
        {
            "tgraph": lambda system, ends: tg.algorithms.shortest_path(system.graph, *ends),
            "networkit": partial(bidirectional, "BidirectionalBFS", "graph"),
            "igraph": partial(length, None),
            "rustworkx": partial(rustworkx_path, lambda edge: 1.0),
        },
        read={"tgraph": lambda path: len(path) - 1, "networkit": lambda run: run.getDistance()},
        agree=close,
        arguments=pairs,
    ),
    "route": Row(
        "a shortest path between two vertices by weights",
        {
            "tgraph": lambda system, ends: tg.algorithms.shortest_path_length(system.weighted, *ends, weighted=True),
            "networkit": partial(bidirectional, "BidirectionalDijkstra", "weighted"),
            "igraph": partial(length, "weight"),
            "rustworkx": partial(rustworkx_path, float),
        },
        read={"networkit": lambda run: run.getDistance()},
        agree=close,
        arguments=pairs,
    ),
    "tree": Row(
        "distances by weights and the tree of shortest paths",
        {
            "tgraph": lambda system, source: tg.algorithms.sssp(system.weighted, source, parents=True),
            "networkit": lambda system, source: nk.distance.Dijkstra(system.weighted, source, True).run(),
            "scipy": lambda system, source: csgraph.dijkstra(system.weighted, indices=source, return_predecessors=True),
        },
        read={
            "tgraph": lambda found: np.where(found[0] < 0, np.inf, found[0]),
            "networkit": lambda run: np.where(np.asarray(run.getDistances()) > 1e300, np.inf, run.getDistances()),
            "scipy": distance_only,
        },
        agree=close,
        arguments=sources,
    ),
    "negative": Row(
        "shortest paths by an algorithm for negative weights",
        {
            "tgraph": lambda system, source: tg.algorithms.bellman_ford(system.weighted, source),
            "igraph": lambda system, source: weighted(system).distances(
                source, weights="weight", mode="out", algorithm="bellman_ford"
            )[0],
        },
        read={
            "tgraph": lambda found: np.where(found[1] < 0, np.inf, found[0]),
            "igraph": distance_only,
        },
        agree=close,
        arguments=sources,
        largest={"igraph": SLOW},
    ),
    "alternatives": Row(
        "the three shortest paths between two vertices by weights",
        {
            "tgraph": lambda system, ends: tg.algorithms.k_shortest_paths(system.weighted, *ends, 3, weighted=True),
            "igraph": lambda system, ends: [
                sum(system.graph.es[path]["weight"])
                for path in weighted(system).get_k_shortest_paths(
                    ends[0], to=ends[1], k=3, weights="weight", output="epath"
                )
            ],
        },
        read={"tgraph": lambda found: np.asarray([length for _, length in found])},
        agree=equal,
        arguments=pairs,
        largest={"igraph": SLOW},
    ),
}
