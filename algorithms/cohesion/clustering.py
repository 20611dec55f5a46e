"""Clustering: the fraction of the pairs of neighbours of a vertex that are neighbours themselves (Watts and Strogatz,
Nature 1998), over single vertices, over all of them, by direction, by weight, and with squares in place of triangles.

Each follows from the triangles of the graph, which are listed once: O(m^1.5) (see `triangles.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

import tgraph as tg


def local_clustering(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Local clustering coefficient of every vertex, float64 [n]; 0 where there are fewer than two neighbours.

    Undirected, a vertex of d neighbours in t triangles has 2 t / (d (d - 1)), as in networkx.clustering. Directed, it
    is the LCC of LDBC Graphalytics: of the d (d - 1) ordered pairs of vertices that have an arc to or from the
    vertex, the fraction joined by an arc. The directed networkx.clustering is another measure, see `clustering`.
    Parallel arcs count once, self-loops not at all. `backend` names the kernels, "auto" takes the best.

    >>> tg.algorithms.local_clustering(tg.generators.wheel(5)).round(decimals=3)
    tensor([0.6670, 0.6670, 0.6670, 0.6670, 0.6670], dtype=torch.float64)
    """
    arcs = tg.primitives.intersect.arcs_among_neighbors(graph, backend=backend)
    degree = graph.to_undirected().without_self_loops().out_degree
    pairs = (degree * (degree - 1)).clamp(min=1)
    return arcs.to(torch.float64) / pairs


def clustering(graph: tg.Graph, *, weighted: bool = False) -> Tensor:
    """Clustering coefficient of every vertex by directed or weighted triangles: float64 [n], as networkx.clustering; 0
    where there is no pair.

    Directed, of the triangles that the arcs at a vertex could close, those that are there, in all eight ways to
    direct their arcs (Fagiolo, Physical Review E 2007). `weighted`: a triangle counts by the geometric mean of its
    weights, divided by the largest weight (Onnela et al., Physical Review E 2005); without weights each is 1.
    Parallel arcs count once, with the first weight, and self-loops not at all. Raises ArgumentError for weights that
    are not finite, or of which the largest is 0.

    >>> tg.algorithms.clustering(tg.generators.wheel(5)).round(decimals=3)
    tensor([0.6670, 0.6670, 0.6670, 0.6670, 0.6670], dtype=torch.float64)
    """
    arcs = tg.primitives.simple_graph.merged(graph).without_self_loops()
    value = torch.ones_like
    if weighted and arcs.weight_dtype is not None and arcs.num_arcs:
        value = _cube_roots(graph, arcs.weight_range[1])
    undirected = tg.primitives.weights.reweighted(arcs, lambda weights: value(weights, dtype=torch.float64))
    if graph.directed:
        undirected = undirected.to_undirected("sum")
    triangles = tg.primitives.triangle_edges.triangle_products(undirected)
    if not graph.directed:
        pairs = arcs.out_degree * (arcs.out_degree - 1)
        return _ratio(2 * triangles, pairs)
    total, mutual = arcs.out_degree + arcs.in_degree, arcs.out_degree + arcs.in_degree - undirected.out_degree
    return _ratio(triangles, total * (total - 1) - 2 * mutual)


def average_clustering(graph: tg.Graph, *, weighted: bool = False, count_zeros: bool = True) -> float:
    """The mean of `clustering` over the vertices, by weights if `weighted`; without `count_zeros` over those where it
    is not 0.

    >>> round(tg.algorithms.average_clustering(tg.generators.lollipop(3, 1)), 3)
    0.583
    """
    found = clustering(graph, weighted=weighted)
    found = found if count_zeros else found[found != 0]
    return float(found.mean()) if len(found) else 0.0


def transitivity(graph: tg.Graph) -> float:
    """Fraction of the paths of two edges that are closed: three times the number of triangles over that of the paths
    (Newman, Watts and Strogatz, PNAS 2002); 0 without paths.

    Directions are ignored; parallel edges count once, self-loops not at all.

    >>> tg.algorithms.transitivity(tg.generators.lollipop(3, 1))
    0.6
    """
    undirected = graph.to_undirected().without_self_loops()
    paths = undirected.out_degree * (undirected.out_degree - 1) // 2
    triangles = int(tg.primitives.intersect.triangles(undirected))
    return 3 * triangles / max(int(paths.sum()), 1)


def square_clustering(graph: tg.Graph) -> Tensor:
    """Fraction of the possible squares at every vertex that are there, float64 [n]: the clustering of bipartite graphs
    (Lind, Gonzalez and Herrmann, Physical Review E 2005), as networkx.

    A pair u, w of neighbours of v with q further common neighbours closes q squares, and could close one with each
    other neighbour of u and of w but those that are squares already. Undirected graphs only; parallel edges count
    once, self-loops not at all. O(a m) with arboricity a, at most m^1.5.

    >>> tg.algorithms.square_clustering(tg.generators.cycle(4))
    tensor([1., 1., 1., 1.], dtype=torch.float64)
    """
    graph = tg.primitives.simple_graph.simple(graph)
    degree = graph.out_degree
    squares = tg.primitives.triangle_edges.squares(graph)
    around = tg.aggregate(graph, degree, "sum")
    triangles = tg.primitives.intersect.triangles(graph, per_vertex=True)
    possible = (degree - 1) * around - degree * (degree - 1) - 2 * triangles - squares
    return _ratio(squares, possible)


def _cube_roots(graph: tg.Graph, largest: float) -> Callable[..., Tensor]:
    """The function that gives the cube roots of weights over the `largest` of those of the simple graph."""
    tg.primitives.weights.check(graph, "numbers", "triangles")
    if not largest:
        own = graph.decoded().weights
        assert own is not None
        reason = "triangles count by their weights over the largest, which is 0: replace some, or leave weighted=False"
        tg.primitives.weights.refuse(graph, largest, int((own == 0).nonzero()[0]), reason)

    def roots(weights: Tensor, dtype: torch.dtype) -> Tensor:
        ratio = weights.to(dtype) / largest
        return ratio.abs().pow(1 / 3) * ratio.sign()

    return roots


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part / whole, and 0 where there is nothing to have a part of."""
    return torch.where(whole > 0, part.to(torch.float64) / whole.clamp(min=1), 0)
