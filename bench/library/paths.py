"""Shortest paths."""

from __future__ import annotations

from functools import partial
from typing import Any

import networkit as nk
import numpy as np
import rustworkx as rx
import torch
from scipy.sparse import csgraph, csr_array

import tgraph as tg
from bench.arrays import Arrays, Description
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


def guided(system: Any) -> dict[tuple[int, int], Any]:
    """Lower bounds of the distances to a target, by those of a landmark (Goldberg and Harrelson, 2005), by ends."""
    if not hasattr(system, "bounds"):
        system.bounds = {}
    return system.bounds


def landmark_bounds(arrays: Any, target: int) -> np.ndarray:
    """|d(landmark, v) - d(landmark, target)| of all vertices v, 0 out of reach; the landmark is the largest hub."""
    n = arrays.num_vertices
    matrix = csr_array((arrays.weights.astype(np.float64), arrays.neighbors, arrays.offset), shape=(n, n))
    distance = csgraph.dijkstra(matrix, indices=int(np.argmax(arrays.degree)))
    return np.nan_to_num(np.abs(distance - distance[target]), posinf=0, nan=0)


def tgraph_guided(system: Any, ends: tuple[int, int]) -> Any:
    bounds = guided(system)
    if ends not in bounds:
        bounds[ends] = torch.from_numpy(landmark_bounds(Arrays.of(system.weighted), ends[1])).to(torch.int64)
    return system.weighted, tg.algorithms.astar_path(system.weighted, *ends, bounds[ends])


def networkit_guided(system: Any, ends: tuple[int, int]) -> Any:
    bounds = guided(system)
    if ends not in bounds:
        bounds[ends] = landmark_bounds(system.arrays, ends[1]).tolist()
    run = nk.distance.AStar(system.weighted, bounds[ends], *ends)
    run.run()
    return run


def path_weight(found: tuple[tg.Graph, torch.Tensor]) -> int:
    """The weight of the path, edge by edge."""
    graph, path = found
    total = 0
    for u, v in zip(path.tolist(), path.tolist()[1:], strict=False):
        row = slice(int(graph.offset[u]), int(graph.offset[u + 1]))
        total += int(graph.weights[row][graph.neighbors[row] == v].min())
    return total


def block(description: Description) -> list[Any]:
    """64 sources at once."""
    random = np.random.default_rng(1)
    return [tuple(random.choice(description.num_vertices, 64, replace=False).tolist())]


def tgraph_block(system: Any, sources: tuple[int, ...]) -> Any:
    return next(iter(tg.algorithms.all_pairs(system.graph, list(sources))))[1]


def networkit_block(system: Any, sources: tuple[int, ...]) -> Any:
    run = nk.distance.SPSP(system.graph, list(sources))
    run.run()
    return run


def far_is_minus_one(distances: Any) -> np.ndarray:
    """Hops, -1 where a library has a large number or infinity."""
    found = np.asarray(distances, dtype=np.float64)
    return np.where(found > 1e300, -1, found)


def rustworkx_path(weight: Any, system: Any, ends: tuple[int, int]) -> Any:
    return rx.dijkstra_shortest_path_lengths(system.graph, ends[0], weight, goal=ends[1])[ends[1]]


def distance_only(result: Any) -> np.ndarray:
    return np.asarray(result[0] if isinstance(result, tuple) else result, dtype=np.float64)


ROWS = {
    "hops": Row(
        "the fewest arcs of a path between two vertices",
        {
            "tgraph": lambda system, ends: tg.algorithms.shortest_path_length(system.graph, *ends),
            "networkit": partial(bidirectional, "BidirectionalBFS", "graph"),
            "igraph": lambda system, ends: system.graph.distances(ends[0], ends[1], mode="out")[0][0],
            "rustworkx": partial(rustworkx_path, lambda edge: 1.0),
        },
        read={"networkit": lambda run: run.getDistance()},
        agree=close,
        arguments=pairs,
    ),
    "path": Row(
        "a path of fewest arcs between two vertices",
        {
            "tgraph": lambda system, ends: tg.algorithms.shortest_path(system.graph, *ends),
            "networkit": lambda system, ends: bidirectional("BidirectionalBFS", "graph", system, ends).getPath(),
            "igraph": lambda system, ends: system.graph.get_shortest_paths(ends[0], to=ends[1])[0],
        },
        read={
            "tgraph": lambda path: len(path) - 1,
            "networkit": lambda path: len(path) + 1,  # without the ends
            "igraph": lambda path: len(path) - 1,
        },
        agree=close,
        arguments=pairs,
    ),
    "guided": Row(
        "a shortest path between two vertices by weights, by A* with the bounds of a landmark",
        {"tgraph": tgraph_guided, "networkit": networkit_guided},
        read={"tgraph": path_weight, "networkit": lambda run: run.getDistance()},
        agree=close,
        arguments=pairs,
        directed=False,
    ),
    "block": Row(
        "hops from 64 vertices to all",
        {
            "tgraph": tgraph_block,
            "networkit": networkit_block,
            "igraph": lambda system, sources: system.graph.distances(list(sources), mode="out"),
            "scipy": lambda system, sources: csgraph.dijkstra(system.weighted, indices=list(sources), unweighted=True),
        },
        read={
            "networkit": lambda run: far_is_minus_one(run.getDistances()),
            "igraph": far_is_minus_one,
            "scipy": far_is_minus_one,
        },
        arguments=block,
        largest={"scipy": SLOW},
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
            "scipy": lambda system, source: csgraph.bellman_ford(system.weighted, indices=source),
        },
        read={
            "tgraph": lambda found: np.where(found[1] < 0, np.inf, found[0]),
            "igraph": distance_only,
            "scipy": distance_only,
        },
        agree=close,
        arguments=sources,
        largest={"igraph": SLOW, "scipy": 30_000},
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
