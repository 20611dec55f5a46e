"""Communities by asynchronous label propagation (Raghavan, Albert, Kumara, "Near linear time algorithm to detect
community structures in large-scale networks", Physical Review E 2007).

Every vertex begins with a label of its own, and again and again takes the label that the arcs to its neighbours give
most weight; of equal ones the one that comes first in a random order, which is the same for all, so that labels spread
instead of keeping to where they began. Labels that changed are seen by those who come next, until every vertex has a
label that none exceeds, but for one in 100,000. It is the local moving of `louvain` without its null model, in batches
that a hash deals. O(m) for each sweep; few are needed.

The semi-synchronous variant (Cordasco and Gargano, "Community detection via semi-synchronous label propagation
algorithms", 2010) deals the vertices by the colours of a colouring, so that no two neighbours choose at once, and takes
of equal labels the largest: it needs no chance, and it ends on every graph.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.coloring.greedy import greedy_color
from tgraph.algorithms.community.louvain import check, named

FEW_CHANGES = 1e-5  # the last sweep changes at most this share of the labels


def label_propagation(
    graph: tg.Graph, *, weighted: bool = False, seed: int = 0, iterations: int = 100, backend: str = "auto"
) -> Tensor:
    """Communities by asynchronous label propagation: for each vertex the smallest vertex of its community, int64 [n].

    weighted : edges count by graph.weights. seed : another one breaks ties otherwise. iterations : the largest number
    of sweeps. In a directed graph an arc counts for both of its ends. The synchronous variant is `cdlp`. `backend`
    names the kernels, "auto" takes the best. Raises ArgumentError for weights that are negative or not finite, and
    iterations below 1.

    >>> tg.algorithms.label_propagation(tg.generators.barbell(4, 0))
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    check(0.0, iterations, "iterations")
    arcs = tg.primitives.communities.quotient(graph, weighted=weighted, backend=backend)
    alone = torch.arange(graph.num_vertices, device=graph.device)
    community, _ = tg.primitives.communities.move(
        arcs, alone, resolution=0.0, seed=seed, sweeps=iterations, tolerance=FEW_CHANGES, backend=backend
    )
    return named(community, backend)


def semi_synchronous_label_propagation(
    graph: tg.Graph, *, weighted: bool = False, iterations: int = 100, backend: str = "auto"
) -> Tensor:
    """Communities by label propagation, colour by colour: for each vertex the smallest vertex of its community, int64
    [n].

    Colour by colour of `greedy_color`, vertices take the label that the arcs to their neighbours give most weight,
    their own among equals, else the largest. As networkx.community.label_propagation_communities, but that self-loops
    do not count. weighted : edges count by graph.weights. iterations : the largest number of sweeps over the colours.
    `backend` names the kernels, "auto" takes the best. Raises ArgumentError for a directed graph, weights that are
    negative or not finite, and iterations below 1.

    >>> tg.algorithms.semi_synchronous_label_propagation(tg.generators.barbell(4, 0))
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    check(0.0, iterations, "iterations")
    color = greedy_color(graph, backend=backend)
    arcs = tg.primitives.communities.quotient(graph, weighted=weighted, backend=backend)
    alone = torch.arange(graph.num_vertices, device=graph.device)
    community, _ = tg.primitives.communities.move(
        arcs, alone, resolution=0.0, batch=color, sweeps=iterations, backend=backend
    )
    return named(community, backend)
