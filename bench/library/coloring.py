"""Colourings. Those of peers differ and are as right: their number of colours tells how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.library import Row, anything, by_vertex, ends, without_cache

SLOW = {"rustworkx": 1 << 22}  # arcs


def colors(system: Any, color: Any) -> float:
    """The number of colours; not a number where neighbours share one."""
    (source, target), color = ends(system.graph), np.asarray(color)
    proper = (color[source] != color[target])[source != target].all()
    return float(len(np.unique(color))) if proper else float("nan")


ROWS = {
    "greedy color": Row(
        "greedy colouring, largest degrees first",
        {"tgraph": "greedy_color", "igraph": "vertex_coloring_greedy", "rustworkx": "graph_greedy_color"},
        read={"rustworkx": by_vertex},
        agree=anything,
        quality={"colors": colors},
        directed=False,
        largest=SLOW,
    ),
    "bipartite": Row(
        "whether the vertices have two sides",
        {"tgraph": "is_bipartite", "igraph": without_cache("is_bipartite"), "rustworkx": "is_bipartite"},
        directed=False,
        largest=SLOW,
    ),
}
