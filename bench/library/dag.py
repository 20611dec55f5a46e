"""Orders and paths of a directed graph without cycles: of each graph, the arcs that lead to a larger vertex."""

from __future__ import annotations

from functools import cache

import numpy as np

import tgraph as tg
from bench.library import Row
from bench.verify import require


def forward(system):
    """The arcs that lead to a larger vertex."""
    source, target, _ = system.arrays.edges()
    kept = source < target
    return source[kept].astype(np.int64), target[kept].astype(np.int64)


@cache
def ours(system):
    graph = system.graph
    source = np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy())
    target = graph.neighbors.numpy().astype(np.int64)
    kept = source < target
    return tg.Graph.from_edges(source[kept], target[kept], num_vertices=graph.num_vertices)


@cache
def igraph_dag(system):
    import igraph

    return igraph.Graph(n=system.n, edges=np.stack(forward(system), axis=1), directed=True)


@cache
def rustworkx_dag(system):
    import rustworkx

    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(system.n))
    graph.add_edges_from_no_data(list(zip(*(ends.tolist() for ends in forward(system)), strict=True)))
    return graph


def rustworkx_order(system, _):
    import rustworkx

    return np.asarray(rustworkx.topological_sort(rustworkx_dag(system)))


def rustworkx_is_dag(system, _):
    import rustworkx

    return rustworkx.is_directed_acyclic_graph(rustworkx_dag(system))


def rustworkx_longest(system, _):
    import rustworkx

    return rustworkx.dag_longest_path_length(rustworkx_dag(system))


def igraph_is_dag(system, _):
    graph = igraph_dag(system)
    getattr(graph, "__invalidate_cache")()  # it remembers the answer
    return graph.is_dag()


def leads_forward(order, graph):
    """Whether every arc leads forward in an order of all vertices."""
    position = np.empty(graph.num_vertices, dtype=np.int64)
    position[np.asarray(order)] = np.arange(graph.num_vertices)
    source = np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy())
    return float((position[source] < position[graph.neighbors.numpy()]).all())


def permutations(mine, theirs):
    """Two orders of the same vertices; whether arcs lead forward in them is a quality, since orders differ."""
    require(np.array_equal(np.sort(mine), np.sort(theirs)), "not an order of all vertices")


LARGEST = {"rustworkx": 1 << 22}

ROWS = {
    "topological sort": Row(
        "topological sort",
        {
            "tgraph": lambda system, _: tg.algorithms.topological_sort(ours(system)),
            "igraph": lambda system, _: igraph_dag(system).topological_sorting(),
            "rustworkx": rustworkx_order,
        },
        agree=permutations,
        quality={"forward": lambda system, order: leads_forward(order, ours(system))},
        directed=True,
        largest=LARGEST,
    ),
    "is dag": Row(
        "whether a directed graph has no cycles",
        {
            "tgraph": lambda system, _: tg.algorithms.is_dag(ours(system)),
            "igraph": igraph_is_dag,
            "rustworkx": rustworkx_is_dag,
        },
        directed=True,
        largest=LARGEST,
    ),
    "longest path": Row(
        "length of a longest path of a graph without cycles",
        {
            "tgraph": lambda system, _: tg.algorithms.dag_longest_path_length(ours(system)),
            "rustworkx": rustworkx_longest,
        },
        directed=True,
        largest=LARGEST,
    ),
}
