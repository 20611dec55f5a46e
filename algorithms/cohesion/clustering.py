"""The local clustering coefficient: the fraction of the pairs of neighbours of a vertex that are neighbours
themselves (Watts and Strogatz, Nature 1998).

The arcs among the neighbours of a vertex are counted by intersecting rows, in O(m^1.5) (see `triangles.py`).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def local_clustering(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The local clustering coefficient of each vertex, float64 [n]; 0 where there are fewer than two neighbours.

    Undirected, a vertex of d neighbours in t triangles has 2 t / (d (d - 1)), as in networkx.clustering. Directed, it
    is the LCC of LDBC Graphalytics: of the d (d - 1) ordered pairs of vertices that have an arc to or from the
    vertex, the fraction joined by an arc. The directed networkx.clustering (Fagiolo 2007) is another measure, which
    counts directed triangles. Parallel arcs count once, self-loops not at all. `backend` names the kernels, "auto"
    takes the best.
    """
    arcs = tg.primitives.intersect.arcs_among_neighbors(graph, backend=backend)
    degree = graph.to_undirected().without_self_loops().out_degree
    pairs = (degree * (degree - 1)).clamp(min=1)
    return arcs.to(torch.float64) / pairs
