"""Components: weak, strong and biconnected, and what holds them together."""

from __future__ import annotations

import numpy as np

import tgraph as tg
from bench.library import Row, same_groups


def igraph_components(mode):
    def call(system, _):
        getattr(system.graph, "__invalidate_cache")()  # it remembers that a graph is connected
        return system.graph.connected_components(mode=mode).membership

    return call


def networkit_strong(system, _):
    import networkit

    return networkit.components.StronglyConnectedComponents(system.graph).run()


def networkit_biconnected(system, _):
    import networkit

    return networkit.components.BiconnectedComponents(system.graph).run()


def scipy_strong(system, _):
    from scipy.sparse import csgraph

    return csgraph.connected_components(system.graph, connection="strong")[1]


def rustworkx_strong(system, _):
    import rustworkx

    return rustworkx.strongly_connected_components(system.graph)


def rustworkx_biconnected(system, _):
    import rustworkx

    return rustworkx.biconnected_components(system.graph)


def rustworkx_articulation_points(system, _):
    import rustworkx

    return rustworkx.articulation_points(system.graph)


def rustworkx_bridges(system, _):
    import rustworkx

    return rustworkx.bridges(system.graph)


def partition(run):
    return np.asarray(run.getPartition().getVector())


def named(components):
    label = np.empty(sum(map(len, components)), dtype=np.int64)
    for name, members in enumerate(components):
        label[list(members)] = name
    return label


def sizes(components):
    """The sizes of the components with an edge, which tell most errors, in ascending order."""
    found = np.sort(np.asarray([len(members) for members in components], dtype=np.int64))
    return found[found > 1]


def pairs(edges):
    """Edges as rows (u, v) with u < v, in ascending order."""
    ends = np.sort(np.asarray(sorted(map(tuple, edges)), dtype=np.int64).reshape(-1, 2), axis=1)
    return ends[np.lexsort((ends[:, 1], ends[:, 0]))]


ROWS = {
    "wcc": Row(
        "weakly connected components",
        {
            "tgraph": lambda system, _: tg.algorithms.wcc(system.graph),
            "networkit": lambda system, _: system.components(None),
            "igraph": igraph_components("weak"),
        },
        read={"networkit": partition},
        agree=same_groups,
    ),
    "scc": Row(
        "strongly connected components",
        {
            "tgraph": lambda system, _: tg.algorithms.scc(system.graph),
            "networkit": networkit_strong,
            "igraph": igraph_components("strong"),
            "scipy": scipy_strong,
            "rustworkx": rustworkx_strong,
        },
        read={"networkit": partition, "rustworkx": named},
        agree=same_groups,
        directed=True,
        largest={"rustworkx": 1 << 22},
    ),
    "biconnected": Row(
        "biconnected components",
        {
            "tgraph": lambda system, _: tg.algorithms.biconnected_components(system.graph),
            "networkit": networkit_biconnected,
            "igraph": lambda system, _: system.graph.biconnected_components(),
            "rustworkx": rustworkx_biconnected,
        },
        read={
            "tgraph": lambda found: np.sort(np.diff(found[0].numpy())),
            "networkit": lambda run: sizes(run.getComponents()),
            "igraph": sizes,
            "rustworkx": lambda edges: sizes(vertices_of(edges)),
        },
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
    "articulation points": Row(
        "articulation points",
        {
            "tgraph": lambda system, _: tg.algorithms.articulation_points(system.graph),
            "igraph": lambda system, _: system.graph.articulation_points(),
            "rustworkx": rustworkx_articulation_points,
        },
        read={
            "igraph": lambda found: np.sort(np.asarray(found, dtype=np.int64)),
            "rustworkx": lambda found: np.sort(np.fromiter(found, dtype=np.int64)),
        },
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
    "bridges": Row(
        "bridges",
        {
            "tgraph": lambda system, _: tg.algorithms.bridges(system.graph),
            "igraph": lambda system, _: (system.graph, system.graph.bridges()),
            "rustworkx": rustworkx_bridges,
        },
        read={
            "tgraph": lambda ends: ends.numpy().T,
            "igraph": lambda found: pairs(found[0].es[edge].tuple for edge in found[1]),
            "rustworkx": pairs,
        },
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
}


def vertices_of(edges):
    """The vertices of each component, from {edge: component}."""
    found: dict[int, set[int]] = {}
    for (u, v), component in edges.items():
        found.setdefault(component, set()).update((u, v))
    return list(found.values())
