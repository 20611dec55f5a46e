"""PinSAGE (Ying et al., "Graph convolutional neural networks for web-scale recommender systems", KDD 2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling.visits import Step, most_visited
from tgraph.sampling.hops import Chosen, of_one_type, sample_hops
from tgraph.sampling.output import EdgeType, SamplerOutput
from tgraph.sampling.relations import Arcs
from tgraph.sampling.seeds import Seeded, checked_vertices


class PinSAGESampler(Seeded):
    """Samples as neighbours of a vertex the vertices most often visited by random walks from it, in each hop.

    A walk follows arcs against their direction; in a heterogeneous graph it repeats `metapath`, such as from an item to
    a user and to another item, and visits the end of each round. A walk may return, so that a vertex may be its own
    neighbour, as in DGL's sampler of this name.

    Parameters
    ----------
    graph : a Graph; a Csr with destinations as rows; or a dictionary of these by type of edges, (source, relation,
        destination).
    num_neighbors : the largest number of neighbours, in each hop.
    num_random_walks : from each vertex. num_traversals : of a walk, at most: arcs, or rounds of the metapath.
    termination_prob : the probability that a walk ends before each traversal but the first.
    metapath : types of edges in the order of the walk, against their direction, a cycle: the destination of the first
        is the source of the last; None for a homogeneous graph.
    weighted : whether walks draw arcs by their nonnegative weights, with weight 0 never.
    seed : with the number of the call, determines the draws, on any number of threads.

    Raises ArgumentError for numbers out of range, a metapath with unknown or disconnected types, and, where `weighted`,
    graphs without weights or with negative ones.

    >>> graph = tg.generators.star(4)
    >>> sample = tg.sampling.PinSAGESampler(graph, [2], seed=1).sample([1])
    >>> sample.node, sample.weight
    (tensor([1, 0, 2]), tensor([10.,  3.]))
    """

    def __init__(
        self,
        graph: Graph | Csr | Mapping[EdgeType, Graph | Csr],
        num_neighbors: Sequence[int],
        *,
        num_random_walks: int = 10,
        num_traversals: int = 2,
        termination_prob: float = 0.5,
        metapath: Sequence[EdgeType] | None = None,
        weighted: bool = False,
        seed: int = 0,
    ):
        for name, value in (("num_random_walks", num_random_walks), ("num_traversals", num_traversals)):
            if value < 1:
                raise ArgumentError(f"{name}: must be 1 or more, got {value}")
        if not 0 <= termination_prob <= 1:
            raise ArgumentError(f"termination_prob: must be between 0 and 1, got {termination_prob}")
        if any(count < 0 for count in num_neighbors):
            raise ArgumentError(f"num_neighbors: must not be negative, got {list(num_neighbors)}")
        arcs = _along(graph, metapath, weighted)
        self.num_neighbors: list[int] = list(num_neighbors)
        self.seed: int = seed
        self._rule = num_random_walks, num_traversals, float(termination_prob)
        self._steps = [Step(step.offset, step.neighbors, step.weights, step.sums) for step in arcs]

    def sample(self, seeds: Tensor | Sequence[int], *, draw: int | None = None) -> SamplerOutput:
        """The neighbours of `seeds`, indices of vertices, with the numbers of visits as `weight`.

        draw : the number of the call, by default counted; with the sampler's seed, determines the draws. Raises
        ArgumentError for seeds out of range.

        >>> sampler = tg.sampling.PinSAGESampler(tg.generators.path(3), [1], num_random_walks=100, seed=1)
        >>> sample = sampler.sample([0])
        >>> sample.node[sample.row], sample.weight
        (tensor([1]), tensor([100.]))
        """
        key = self._key(draw)
        size, weights = len(self._steps[0].offset) - 1, [torch.empty(0)]

        def choose(_: int, hop: int, vertices: Tensor, place: int) -> Chosen:
            count = self.num_neighbors[hop]
            found, neighbors, visits = most_visited(self._steps, vertices, place, *self._rule, count, key)
            weights.append(visits)
            return Chosen(found, neighbors, None)

        node = checked_vertices(seeds, size, "seeds")
        found = sample_hops([size], [(0, 0)], {0: node}, len(self.num_neighbors), False, choose)
        return of_one_type(found, None, torch.cat(weights))


def _along(
    graph: Graph | Csr | Mapping[EdgeType, Graph | Csr], metapath: Sequence[EdgeType] | None, weighted: bool
) -> list[Arcs]:
    """The arcs of each step of a walk, against their direction."""
    if not isinstance(graph, Mapping):
        if metapath is not None:
            raise ArgumentError("metapath: an ordinary graph has none; give a dictionary by type of edges")
        arcs = Arcs.of(graph, "in", weighted, None, None, "graph")
        if arcs.num_sources != arcs.num_rows:
            raise ArgumentError("graph: walks do not come back; give a dictionary by type of edges and a metapath")
        return [arcs]
    if not metapath:
        raise ArgumentError("metapath: a graph of several types needs one, the types of edges of a walk in order")
    for kind in metapath:
        if kind not in graph:
            raise ArgumentError(f"metapath: the graph has no edges {kind!r}, only {list(graph)}")
    steps = [Arcs.of(graph[kind], "in", weighted, None, None, f"graph[{kind!r}]") for kind in metapath]
    for i, kind in enumerate(metapath):
        after = (i + 1) % len(metapath)
        if kind[0] != metapath[after][2]:
            raise ArgumentError(f"metapath: after {kind!r} a walk is at {kind[0]!r}, no end of {metapath[after]!r} end")
        if steps[i].num_sources != (rows := steps[after].num_rows):
            raise ArgumentError(
                f"graph: {kind!r} has {steps[i].num_sources} vertices {kind[0]!r}, {metapath[after]!r} has {rows}"
            )
    return steps
