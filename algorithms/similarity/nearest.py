"""The vertices most similar to each vertex: links to recommend.

Those that have a neighbour in common with it are found by a walk over all paths of two edges, row by row of the square
of the matrix, of which the best entries are kept; the matrix is never held.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.similarity._neighbors import simple
from tgraph.algorithms.similarity.links import loops_twice

SCORES = ("common", "jaccard", "overlap", "sorensen", "cosine")
WEIGHTS = {
    "adamic_adar": lambda degree: 1 / degree.clamp(min=2).log(),  # a vertex of degree 1 is no common neighbour
    "resource_allocation": lambda degree: 1 / degree.clamp(min=1),
}


def most_similar(
    graph: tg.Graph,
    count: int = 10,
    measure: str = "jaccard",
    *,
    vertices: Any = None,
    new_links: bool = False,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Most similar other vertices of every vertex by their neighbours: (vertices, similarity), int64 [n, count] and
    float64 [n, count], best first and ties by index, -1 and 0 where fewer have a neighbour in common with it.

    count : how many of each.
    measure : "jaccard", "overlap", "sorensen", "cosine", "common", "adamic_adar" or "resource_allocation".
    vertices : indices [r] of those for which they are wanted, in place of all n.
    new_links : leave out those that an edge joins already, which recommends links.
    backend : the kernels that compute.

    For undirected graphs; parallel edges count once. Raises ArgumentError for a directed graph and another measure.

    >>> graph = tg.generators.complete_bipartite(2, 3)
    >>> similar, score = tg.algorithms.most_similar(graph, 1)
    >>> similar.flatten(), score.flatten()
    (tensor([1, 0, 3, 2, 2]), tensor([1., 1., 1., 1., 1.], dtype=torch.float64))
    """
    if measure not in (*SCORES, *WEIGHTS):
        raise tg.errors.ArgumentError(f"measure: {measure!r} is not one of {', '.join((*SCORES, *WEIGHTS))}")
    graph = simple(graph)
    weights = WEIGHTS[measure](loops_twice(graph).to(torch.float64)) if measure in WEIGHTS else None
    score = "common" if measure in WEIGHTS else measure
    graph = graph.without_self_loops() if measure in WEIGHTS else graph  # neighbours in common are others
    return tg.primitives.row_similarity.most_similar(
        graph, count, score, weights, vertices=vertices, others_only=new_links, backend=backend
    )
