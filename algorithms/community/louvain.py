"""Communities by the Louvain method (Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large
networks", 2008).

Every vertex begins in a community of its own. Again and again:

    move      vertices to the community of a neighbour for which modularity gains most, until hardly any gains;
    contract  each community to one vertex, arcs between communities to one that weighs as much,

until nothing moves. Vertices do not move one by one but in batches dealt by a hash, those of a batch at once, so that
the result is the same on any number of threads. O(m) for each sweep over the vertices.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg

# A phase ends when a sweep moves at most this share of the vertices: the next levels do what is left at less cost.
FEW_MOVES = 1e-3
# A vertex is visited again once more than this share of its arcs lead to vertices that moved: hubs choose as before
# after few moves around them, and looking at all of their arcs costs most.
STIRRED = 1 / 64


def louvain(
    graph: tg.Graph,
    *,
    weighted: bool = False,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    backend: str = "auto",
) -> Tensor:
    """Communities of high modularity by the Louvain method: for each vertex the smallest vertex of its community, int64
    [n].

    weighted : edges count by graph.weights. resolution : more than 1 favours smaller communities, less larger ones.
    seed : another one gives another, similar partition. max_level : the largest number of levels. In a directed graph
    directed modularity is maximised. `backend` names the kernels, "auto" takes the best.
    Raises ArgumentError for weights that are negative or not finite, a negative resolution, and a max_level below 1.

    >>> tg.algorithms.louvain(tg.generators.barbell(4, 0))
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    levels = louvain_levels(
        graph, weighted=weighted, resolution=resolution, seed=seed, max_level=max_level, backend=backend
    )
    return levels[-1]


def louvain_levels(
    graph: tg.Graph,
    *,
    weighted: bool = False,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    backend: str = "auto",
) -> list[Tensor]:
    """The partitions of the levels, finest first, each as `louvain` gives it; one level at least.

    The parameters `weighted`, `resolution`, `seed`, `max_level` and `backend` are those of `louvain`.

    >>> levels = tg.algorithms.louvain_levels(tg.generators.cycle(32))
    >>> [int(level.unique().numel()) for level in levels]
    [13, 5]
    """
    check(resolution, max_level, "max_level")
    steps = tg.primitives.communities
    arcs = steps.quotient(graph, weighted=weighted, backend=backend)
    held = torch.arange(graph.num_vertices, device=graph.device)  # the vertex of the present level that each is part of
    levels: list[Tensor] = []
    while max_level is None or len(levels) < max_level:
        alone = torch.arange(arcs.num_vertices, device=graph.device)
        community, moves = steps.move(
            arcs,
            alone,
            resolution=resolution,
            seed=seed + len(levels),
            tolerance=FEW_MOVES,
            stirred_share=STIRRED,
            backend=backend,
        )
        if not moves or steps.gain(arcs, alone, community, resolution=resolution, backend=backend) <= 0:
            break  # those that moved at once may all have counted on others to stay
        group, first = steps.number(community, backend=backend)
        held = group.index_select(0, held)
        levels.append(named(held, backend))
        arcs = steps.contract(arcs, group, len(first), backend=backend)
    return levels or [held]


def named(group: Tensor, backend: str) -> Tensor:
    """Each group by its smallest vertex, int64 [n]."""
    group, first = tg.primitives.communities.number(group, backend=backend)
    return first[group]


def check(resolution: float, count: int | None, name: str) -> None:
    """Raise ArgumentError for a resolution below 0, or a `count` that is given and below 1."""
    if not resolution >= 0:
        raise tg.errors.ArgumentError(f"resolution: expected 0 or more, got {resolution}")
    if count is not None and (not isinstance(count, int) or count < 1):
        raise tg.errors.ArgumentError(f"{name}: expected an int of 1 or more, got {count!r}")
