"""Core numbers: how deep in the densest part of the graph each vertex lies (Seidman, Social Networks 1983).

Vertices of least degree are removed one after the other; the core number of a vertex is the largest degree at which
one had been removed by then. O(n + m) with the vertices in buckets by degree (Batagelj and Zaversnik 2003). The onion
decomposition tells, beside, how early each vertex of a core was removed (Hebert-Dufresne, Grochow and Allard,
Scientific Reports 2016).
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def core_number(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Core number of every vertex, int64 [n]: the largest k such that the vertex is in a subgraph whose vertices all
    have degree k or more there.

    As networkx.core_number: in a directed graph the degree is that in both directions, so that u -> v and v -> u
    count twice. Parallel arcs count once, self-loops not at all. `backend` names the kernels, "auto" takes the best.

    >>> tg.algorithms.core_number(tg.generators.lollipop(4, 2))
    tensor([3, 3, 3, 3, 1, 1])
    """
    return tg.primitives.k_core.core_numbers(graph, backend=backend)


def k_core(graph: tg.Graph, k: int | None = None) -> tg.Graph:
    """The largest subgraph whose vertices all have degree `k` or more in it (None: the innermost that there is), as
    networkx.k_core. Its vertices keep their ids; degrees are those of `core_number`.

    >>> core = tg.algorithms.k_core(tg.generators.lollipop(4, 2), 3)
    >>> core.ids(range(core.num_vertices))
    tensor([0, 1, 2, 3])
    """
    core = core_number(graph)
    return graph.subgraph(core >= _chosen(core, k))


def k_shell(graph: tg.Graph, k: int | None = None) -> tg.Graph:
    """The subgraph of the vertices of core number `k` (None: the largest that there is), as networkx.k_shell.

    >>> shell = tg.algorithms.k_shell(tg.generators.lollipop(4, 2), 1)
    >>> shell.ids(range(shell.num_vertices))
    tensor([4, 5])
    """
    core = core_number(graph)
    return graph.subgraph(core == _chosen(core, k))


def onion_layers(graph: tg.Graph) -> Tensor:
    """Layer of every vertex in the onion decomposition, int64 [n], from 1 on, as networkx.onion_layers: in turn, all
    vertices whose degree among those left is at most the core number reached are removed as one layer.

    Undirected graphs only; parallel edges count once, self-loops not at all. O(n + m).

    >>> tg.algorithms.onion_layers(tg.generators.path(5))
    tensor([1, 2, 3, 2, 1])
    """
    return tg.primitives.k_core.onion_layers(tg.primitives.simple_graph.simple(graph))[1]


def _chosen(core: Tensor, k: int | None) -> int:
    """The core number meant: the largest for None, and for a k beyond any one that no vertex has."""
    deepest = int(core.max()) if len(core) else 0
    return deepest if k is None else max(-1, min(k, deepest + 1))
