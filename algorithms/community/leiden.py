"""Communities by the Leiden method (Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected
communities", 2019).

As Louvain, but that communities are refined before they are contracted: within each, vertices begin alone again and
join others that gain from it, so that a community that is badly connected falls apart. Refined groups become the
vertices of the next level, and begin there in the community that they are part of:

    move      vertices between communities, as in Louvain, visiting again those whose neighbours moved;
    refine    each community into connected groups;
    contract  each group to one vertex.

The last communities are cut into their connected parts, which never lowers modularity, so that all are connected. An
iteration goes through all levels; the next begins with its communities. Vertices that are refined take the group of the
largest gain, where the paper draws one of those with a gain. O(m) for each sweep over the vertices.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.community.louvain import FEW_MOVES, STIRRED, check, named
from tgraph.algorithms.components.wcc import wcc


def leiden(
    graph: tg.Graph,
    *,
    weighted: bool = False,
    resolution: float = 1.0,
    seed: int = 0,
    iterations: int = 2,
    backend: str = "auto",
) -> Tensor:
    """Connected communities of high modularity by the Leiden method: for each vertex the smallest vertex of its
    community, int64 [n].

    weighted : edges count by graph.weights. resolution : more than 1 favours smaller communities, less larger ones.
    seed : another one gives another, similar partition. iterations : at most so many; fewer where one changes nothing.
    In a directed graph directed modularity is maximised, and communities are weakly connected. `backend` names the
    kernels, "auto" takes the best.
    Raises ArgumentError for weights that are negative or not finite, a negative resolution, and iterations below 1.

    >>> graph = tg.generators.barbell(4, 0)
    >>> community = tg.algorithms.leiden(graph)
    >>> community, round(tg.algorithms.modularity(graph, community), 3)
    (tensor([0, 0, 0, 0, 4, 4, 4, 4]), 0.423)
    """
    check(resolution, iterations, "iterations")
    steps = tg.primitives.communities
    arcs = steps.quotient(graph, weighted=weighted, backend=backend)
    community = torch.arange(graph.num_vertices, device=graph.device)
    for iteration in range(iterations):
        found = named(_unfold(arcs, community, resolution, seed + 1000 * iteration, backend), backend)
        if steps.gain(arcs, community, found, resolution=resolution, backend=backend) <= 0:
            break
        community = found
    return community


def _unfold(
    arcs: tg.primitives.communities.Quotient, community: Tensor, resolution: float, seed: int, backend: str
) -> Tensor:
    """The communities after one iteration from others, int64 [n]."""
    steps = tg.primitives.communities
    held = torch.arange(arcs.num_vertices, device=community.device)
    while True:
        options: dict[str, Any] = {"resolution": resolution, "seed": seed, "backend": backend}
        community, _ = steps.move(arcs, community, tolerance=FEW_MOVES, stirred_share=STIRRED, **options)
        alone = torch.arange(arcs.num_vertices, device=community.device)
        refined, joined = steps.move(arcs, alone, bound=community, **options)
        if not joined:
            return _connected(arcs, community).index_select(0, held)
        group, first = steps.number(refined, backend=backend)
        arcs, held, seed = (
            steps.contract(arcs, group, len(first), backend=backend),
            group.index_select(0, held),
            seed + 1,
        )
        # A community is named by the first of its groups: names are vertices of the next level.
        number, leader = steps.number(
            steps.number(community, backend=backend)[0].index_select(0, first), backend=backend
        )
        community = leader.index_select(0, number)


def _connected(arcs: tg.primitives.communities.Quotient, community: Tensor) -> Tensor:
    """The connected parts of the communities, each named by a vertex of its own."""
    if torch.equal(community, torch.arange(len(community), device=community.device)):
        return community
    src = torch.arange(arcs.num_vertices, device=community.device).repeat_interleave(arcs.offset.diff())
    dst = arcs.neighbors.long()
    inside = community[src] == community[dst]
    if arcs.weights is not None:
        inside &= arcs.weights > 0
    graph = tg.Graph.from_edges(src[inside], dst[inside], num_vertices=arcs.num_vertices, directed=True)
    return wcc(graph)
