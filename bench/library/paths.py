"""Shortest paths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.sparse import csgraph, csr_array

import tgraph as tg
from bench.arrays import Arrays, Description
from bench.kernels import sources
from bench.library import Call, Ends, Row, close, drawn, nk, rx

SLOW = 3_000_000  # arcs


def pairs(description: Description) -> list[Any]:
    """From where to where paths lead."""
    sources = description.sources
    return list(map(Ends, sources, sources[1:] + sources[:1]))


def igraph_length(weights: str | None, system: Any, ends: Ends) -> Any:
    """Of the edges of igraph's path."""
    edges = system.weighted.get_shortest_paths(ends.source, to=ends.target, weights=weights, output="epath")[0]
    return sum(system.weighted.es[edges]["weight"]) if weights else len(edges)


def igraph_alternatives(system: Any, ends: Ends) -> list[Any]:
    options = {"k": 3, "weights": "weight", "output": "epath"}
    found = system.weighted.get_k_shortest_paths(ends.source, to=ends.target, **options)
    return [sum(system.weighted.es[path]["weight"]) for path in found]


def landmark_bounds(system: Any, ends: Ends) -> np.ndarray:
    """Lower bounds of the distances to the target: |d(landmark, v) - d(landmark, target)| of all vertices v, 0 out of
    reach; the landmark is the largest hub (Goldberg and Harrelson, 2005). Those of a system are kept."""
    bounds = system.__dict__.setdefault("bounds", {})
    if ends not in bounds:
        arrays = Arrays.of(system.weighted) if system.name == "tgraph" else system.arrays
        n = arrays.num_vertices
        matrix = csr_array((arrays.weights.astype(np.float64), arrays.neighbors, arrays.offset), shape=(n, n))
        distance = csgraph.dijkstra(matrix, indices=int(np.argmax(arrays.degree)))
        found = np.nan_to_num(np.abs(distance - distance[ends.target]), posinf=0, nan=0)
        bounds[ends] = torch.from_numpy(found).to(torch.int64) if system.name == "tgraph" else found.tolist()
    return bounds[ends]


def tgraph_guided(system: Any, ends: Ends) -> Any:
    return system.weighted, tg.algorithms.astar_path(system.weighted, *ends, landmark_bounds(system, ends))


def networkit_guided(system: Any, ends: Ends) -> Any:
    run = nk.distance.AStar(system.weighted, landmark_bounds(system, ends), *ends)
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


def tgraph_block(system: Any, sources: list[int]) -> Any:
    return next(iter(tg.algorithms.all_pairs(system.graph, sources)))[1]


def far_is_minus_one(distances: Any) -> np.ndarray:
    """Hops, -1 where a library has a large number or infinity."""
    found = np.asarray(distances, dtype=np.float64)
    return np.where(found > 1e300, -1, found)


def far_is_infinite(distances: Any) -> np.ndarray:
    found = np.asarray(distances, dtype=np.float64)
    return np.where((found < 0) | (found > 1e300), np.inf, found)


def rustworkx_path(weight: Any, system: Any, ends: Ends) -> Any:
    return rx.dijkstra_shortest_path_lengths(system.graph, ends.source, weight, goal=ends.target)[ends.target]


def distance(run: Any) -> Any:
    """Of networkit."""
    return run.getDistance()


ROWS = {
    "hops": Row(
        "the fewest arcs of a path between two vertices",
        {
            "tgraph": "shortest_path_length",
            "networkit": "distance.BidirectionalBFS",
            "igraph": Call("distances", mode="out"),
            "rustworkx": partial(rustworkx_path, lambda edge: 1.0),
        },
        read={"networkit": distance, "igraph": lambda found: found[0][0]},
        agree=close,
        arguments=pairs,
    ),
    "path": Row(
        "a path of fewest arcs between two vertices",
        {
            "tgraph": "shortest_path",
            "networkit": "distance.BidirectionalBFS",
            "igraph": lambda system, ends: system.graph.get_shortest_paths(ends.source, to=ends.target)[0],
        },
        read={
            "tgraph": lambda path: len(path) - 1,
            "networkit": lambda run: len(run.getPath()) + 1,  # without the ends
            "igraph": lambda path: len(path) - 1,
        },
        agree=close,
        arguments=pairs,
    ),
    "guided": Row(
        "a shortest path between two vertices by weights, by A* with the bounds of a landmark",
        {"tgraph": tgraph_guided, "networkit": networkit_guided},
        read={"tgraph": path_weight, "networkit": distance},
        agree=close,
        arguments=pairs,
        directed=False,
    ),
    "block": Row(
        "hops from 64 vertices to all",
        {
            "tgraph": tgraph_block,
            "networkit": "distance.SPSP",
            "igraph": Call("distances", mode="out"),
            "scipy": Call("dijkstra", of="weighted", by="indices", unweighted=True),
        },
        read={
            "networkit": lambda run: far_is_minus_one(run.getDistances()),
            "igraph": far_is_minus_one,
            "scipy": far_is_minus_one,
        },
        arguments=drawn(64, seed=1, blocks=1),
        largest={"scipy": SLOW},
    ),
    "route": Row(
        "a shortest path between two vertices by weights",
        {
            "tgraph": Call("shortest_path_length", of="weighted", weighted=True),
            "networkit": Call("distance.BidirectionalDijkstra", of="weighted"),
            "igraph": partial(igraph_length, "weight"),
            "rustworkx": partial(rustworkx_path, float),
        },
        read={"networkit": distance},
        agree=close,
        arguments=pairs,
    ),
    "tree": Row(
        "distances by weights and the tree of shortest paths",
        {
            "tgraph": Call("sssp", of="weighted", parents=True),
            "networkit": Call("distance.Dijkstra", True, of="weighted"),
            "scipy": Call("dijkstra", of="weighted", by="indices", return_predecessors=True),
        },
        read={
            "tgraph": lambda found: far_is_infinite(found[0]),
            "networkit": lambda run: far_is_infinite(run.getDistances()),
            "scipy": lambda found: far_is_infinite(found[0]),
        },
        agree=close,
        arguments=sources,
    ),
    "negative": Row(
        "shortest paths by an algorithm for negative weights",
        {
            "tgraph": Call("bellman_ford", of="weighted"),
            "igraph": Call("distances", of="weighted", weights="weight", mode="out", algorithm="bellman_ford"),
            "scipy": Call("bellman_ford", of="weighted", by="indices"),
        },
        read={
            "tgraph": lambda found: np.where(found[1] < 0, np.inf, found[0]),
            "igraph": lambda found: np.asarray(found[0], dtype=np.float64),
        },
        agree=close,
        arguments=sources,
        largest={"igraph": SLOW, "scipy": 30_000},
    ),
    "alternatives": Row(
        "the three shortest paths between two vertices by weights",
        {"tgraph": Call("k_shortest_paths", 3, of="weighted", weighted=True), "igraph": igraph_alternatives},
        read={"tgraph": lambda found: np.asarray([length for _, length in found])},
        arguments=pairs,
        largest={"igraph": SLOW},
    ),
}
