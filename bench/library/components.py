"""Components: weak, strong and biconnected, and what holds them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bench.library import Call, Row, partition, same_groups, without_cache
from bench.peers import labels

SLOW = {"rustworkx": 1 << 22}  # arcs


def sizes(components: Iterable[Any]) -> np.ndarray:
    """The sizes of the components with an edge, which tell most errors, in ascending order."""
    found = np.sort(np.asarray([len(members) for members in components], dtype=np.int64))
    return found[found > 1]


def vertices_of(edges: Mapping[tuple[int, int], int]) -> Iterable[set[int]]:
    """The vertices of each component, from {edge: component}."""
    found: dict[int, set[int]] = {}
    for (u, v), component in edges.items():
        found.setdefault(component, set()).update((u, v))
    return found.values()


def pairs(edges: Iterable[Any]) -> np.ndarray:
    """Edges as rows (u, v) with u < v, in ascending order."""
    ends = np.sort(np.asarray(sorted(map(tuple, edges)), dtype=np.int64).reshape(-1, 2), axis=1)
    return ends[np.lexsort((ends[:, 1], ends[:, 0]))]


def ascending(vertices: Iterable[int]) -> np.ndarray:
    return np.sort(np.fromiter(vertices, dtype=np.int64))


def members(clustering: Any) -> Any:
    return clustering.membership


ROWS = {
    "wcc": Row(
        "weakly connected components",
        {
            "tgraph": "wcc",
            "networkit": lambda system, _: system.components(None),
            "igraph": without_cache("connected_components", mode="weak"),
        },
        read={"networkit": partition, "igraph": members},
        agree=same_groups,
    ),
    "scc": Row(
        "strongly connected components",
        {
            "tgraph": "scc",
            "networkit": "components.StronglyConnectedComponents",
            "igraph": without_cache("connected_components", mode="strong"),
            "scipy": Call("connected_components", connection="strong"),
            "rustworkx": "strongly_connected_components",
        },
        read={
            "networkit": partition,
            "igraph": members,
            "scipy": lambda found: found[1],
            "rustworkx": lambda found: labels(found, sum(map(len, found))),
        },
        agree=same_groups,
        directed=True,
        largest=SLOW,
    ),
    "biconnected": Row(
        "biconnected components",
        {
            "tgraph": "biconnected_components",
            "networkit": "components.BiconnectedComponents",
            "igraph": "biconnected_components",
            "rustworkx": "biconnected_components",
        },
        read={
            "tgraph": lambda found: np.sort(np.diff(found[0].numpy())),
            "networkit": lambda run: sizes(run.getComponents()),
            "igraph": sizes,
            "rustworkx": lambda edges: sizes(vertices_of(edges)),
        },
        directed=False,
        largest=SLOW,
    ),
    "articulation points": Row(
        "articulation points",
        dict.fromkeys(("tgraph", "igraph", "rustworkx"), "articulation_points"),
        read={"igraph": ascending, "rustworkx": ascending},
        directed=False,
        largest=SLOW,
    ),
    "bridges": Row(
        "bridges",
        {
            "tgraph": "bridges",
            "igraph": lambda system, _: (system.graph, system.graph.bridges()),
            "rustworkx": "bridges",
        },
        read={
            "tgraph": lambda ends: ends.numpy().T,
            "igraph": lambda found: pairs(found[0].es[edge].tuple for edge in found[1]),
            "rustworkx": pairs,
        },
        directed=False,
        largest=SLOW,
    ),
}
