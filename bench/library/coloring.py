"""Colourings. Those of peers differ and are as right: their number of colours tells how good they are."""

from __future__ import annotations

import numpy as np

import tgraph as tg
from bench.library import Row, anything


def rustworkx_colors(system, _):
    import rustworkx

    return rustworkx.graph_greedy_color(system.graph)


def rustworkx_is_bipartite(system, _):
    import rustworkx

    return rustworkx.is_bipartite(system.graph)


def igraph_is_bipartite(system, _):
    getattr(system.graph, "__invalidate_cache")()
    return system.graph.is_bipartite()


def colors(system, color):
    """How many colours there are; not a number where neighbours share one."""
    graph = system.graph
    source = np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy())
    target, color = graph.neighbors.numpy(), np.asarray(color)
    proper = (color[source] != color[target])[source != target].all()
    return float(len(np.unique(color))) if proper else float("nan")


ROWS = {
    "greedy color": Row(
        "greedy colouring, largest degrees first",
        {
            "tgraph": lambda system, _: tg.algorithms.greedy_color(system.graph),
            "igraph": lambda system, _: system.graph.vertex_coloring_greedy(),
            "rustworkx": rustworkx_colors,
        },
        read={"rustworkx": lambda found: np.asarray([found[vertex] for vertex in range(len(found))])},
        agree=anything,
        quality={"colors": colors},
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
    "bipartite": Row(
        "whether the vertices have two sides",
        {
            "tgraph": lambda system, _: tg.algorithms.is_bipartite(system.graph),
            "igraph": igraph_is_bipartite,
            "rustworkx": rustworkx_is_bipartite,
        },
        directed=False,
        largest={"rustworkx": 1 << 22},
    ),
}
