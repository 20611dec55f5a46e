"""Orders and paths of a directed graph without cycles: of each graph, the arcs that lead to a larger vertex."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bench.arrays import Arrays
from bench.library import Call, Row, ends, of_arrays
from bench.verify import require

SLOW = {"rustworkx": 1 << 22}  # arcs


@cache
def forward(system: Any) -> Any:
    """The graph of the arcs that lead to a larger vertex, of a system."""
    arrays = Arrays.of(system.weighted) if system.name == "tgraph" else system.arrays
    kept = arrays.rows < arrays.neighbors
    degree = np.bincount(arrays.rows[kept], minlength=arrays.num_vertices)
    offset = np.concatenate(([0], np.cumsum(degree)))
    return of_arrays(system, Arrays(offset, arrays.neighbors[kept], arrays.weights[kept], True))


def igraph_is_dag(system: Any, _: Any) -> bool:
    graph = forward(system)
    getattr(graph, "__invalidate_cache")()  # it remembers the answer
    return graph.is_dag()


def leads_forward(system: Any, order: Any) -> float:
    """Whether every arc leads forward in an order of all vertices."""
    graph = forward(system)
    position = np.empty(graph.num_vertices, dtype=np.int64)
    position[np.asarray(order)] = np.arange(graph.num_vertices)
    source, target = ends(graph)
    return float((position[source] < position[target]).all())


def permutations(mine: Any, theirs: Any) -> None:
    """Two orders of the same vertices; whether arcs lead forward in them is a quality, since orders differ."""
    require(np.array_equal(np.sort(mine), np.sort(theirs)), "not an order of all vertices")


ROWS = {
    "topological sort": Row(
        "topological sort",
        {
            "tgraph": Call("topological_sort", of=forward),
            "igraph": Call("topological_sorting", of=forward),
            "rustworkx": Call("topological_sort", of=forward),
        },
        agree=permutations,
        quality={"forward": leads_forward},
        directed=True,
        largest=SLOW,
    ),
    "is dag": Row(
        "whether a directed graph has no cycles",
        {
            "tgraph": Call("is_dag", of=forward),
            "igraph": igraph_is_dag,
            "rustworkx": Call("is_directed_acyclic_graph", of=forward),
        },
        directed=True,
        largest=SLOW,
    ),
    "longest path": Row(
        "length of a longest path of a graph without cycles",
        dict.fromkeys(("tgraph", "rustworkx"), Call("dag_longest_path_length", of=forward)),
        directed=True,
        largest=SLOW,
    ),
}
