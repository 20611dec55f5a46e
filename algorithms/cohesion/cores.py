"""Core numbers: how deep in the densest part of the graph each vertex lies (Seidman, Social Networks 1983).

Vertices of least degree are removed one after the other; the core number of a vertex is the largest degree at which
one had been removed by then. O(n + m) with the vertices in buckets by degree (Batagelj and Zaversnik 2003).
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def core_number(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The core number of each vertex, int64 [n]: the largest k such that the vertex is in a subgraph whose vertices
    all have degree k or more there.

    As networkx.core_number: in a directed graph the degree is that in both directions, so that u -> v and v -> u
    count twice. Parallel arcs count once, self-loops not at all. `backend` names the kernels, "auto" takes the best.
    """
    return tg.primitives.k_core.core_numbers(graph, backend=backend)
