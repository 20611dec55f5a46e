"""Triangles: three vertices each of which is a neighbour of the other two.

Each edge is directed to the end of larger degree, and the rows of the two ends of each edge are intersected: every
triangle is found once, at its edge of smallest degrees. O(m^1.5) (Chiba and Nishizeki, SIAM J. Computing 1985; Latapy,
Theoretical Computer Science 2008).
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def triangle_count(graph: tg.Graph, *, per_vertex: bool = False, backend: str = "auto") -> int | Tensor:
    """Number of triangles, of all or at every vertex: an int; with `per_vertex` the number that each vertex is in,
    int64 [n].

    The direction of arcs is ignored, parallel edges count once and self-loops not at all, as if networkx.triangles
    were given the undirected simple graph. Every triangle is in the counts of its three vertices. `backend` names the
    kernels, "auto" takes the best.

    >>> graph = tg.generators.wheel(5)
    >>> tg.algorithms.triangle_count(graph), tg.algorithms.triangle_count(graph, per_vertex=True)
    (4, tensor([4, 2, 2, 2, 2]))
    """
    found = tg.primitives.intersect.triangles(graph, per_vertex=per_vertex, backend=backend)
    return found if per_vertex else int(found)
