"""LABOR: neighbour sampling with few vertices in a batch (Balin and Catalyurek, "Layer-neighbor sampling: defusing
neighborhood explosion in GNNs", NeurIPS 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.kernels.operators.sampling.neighbors import Sampled
from tgraph.sampling.hops import Chosen
from tgraph.sampling.neighbor_sampler import Fanouts, NeighborSampler
from tgraph.sampling.output import EdgeType
from tgraph.sampling.stored import StoredArcs, least_of_rows


class LaborSampler(NeighborSampler):
    """As NeighborSampler, uniform and without replacement, with dependent draws in a hop: each source has one random
    number, and a vertex takes its sources with the smallest numbers. Probabilities and numbers of arcs are those of
    NeighborSampler; but vertices with common sources take the same ones, so a batch has fewer vertices, and fewer
    features to read. Draws read all arcs of a vertex; parallel arcs are drawn together.

    Parameters
    ----------
    layer_dependency : whether the sources have the same numbers in all hops, for still fewer vertices.

    Other parameters and errors are those of NeighborSampler; with -1 a hop takes all arcs.

    >>> graph = tg.generators.complete_bipartite(4, 6)
    >>> sampler = tg.sampling.LaborSampler(graph, [2], seed=1)
    >>> sample = sampler.sample([0, 1, 2, 3])
    >>> len(sample.row), len(sample.node)
    (8, 6)
    """

    def __init__(
        self,
        graph: Graph | Csr | Mapping[EdgeType, Graph | Csr],
        num_neighbors: Fanouts,
        *,
        layer_dependency: bool = False,
        induced: bool = False,
        num_vertices: Mapping[str, int] | None = None,
        direction: Literal["in", "out"] = "in",
        numbered: bool | None = None,
        seed: int = 0,
    ):
        options: dict[str, Any] = {"induced": induced, "num_vertices": num_vertices, "direction": direction}
        super().__init__(graph, num_neighbors, numbered=numbered, seed=seed, **options)
        self.layer_dependency = layer_dependency

    def _drawn(self, seeds: dict[int, Tensor], hops: int, key: int, latest_time: Tensor | None) -> Sampled:
        def choose(i: int, hop: int, vertices: Tensor, place: int) -> Chosen:
            own = random.key(key if self.layer_dependency else random.key(key, hop), self._ends[i][0])
            arcs, fanout = self._arcs[i], self._fanouts[i][hop]
            if isinstance(arcs, StoredArcs):
                return arcs.least(vertices, fanout, own)
            count, arc = least_of_rows(arcs.offset, arcs.neighbors, vertices, fanout, own)
            return Chosen(count, arcs.neighbors[arc].long(), arc)

        return self._by_hops(seeds, hops, choose)
