"""Neighbour sampling with few vertices in a batch (Balin and Catalyurek, "Layer-neighbor sampling: defusing
neighborhood explosion in GNNs", NeurIPS 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.kernels.portable.sampling.labor import least_arcs
from tgraph.kernels.portable.sampling.neighbors import Relation, Sampled
from tgraph.kernels.portable.sampling.places import number_vertices
from tgraph.sampling.neighbor_sampler import Fanouts, NeighborSampler
from tgraph.sampling.output import EdgeType


class LaborSampler(NeighborSampler):
    """As NeighborSampler, uniform and without replacement, but that the vertices of a hop draw together: each source
    has one random number, and a vertex takes those of its sources whose numbers are the smallest. Each arc is as likely
    as in NeighborSampler, and each vertex has as many; but vertices with sources in common take the same ones, so that
    a batch has fewer vertices, and fewer features to read. Draws read all arcs of a vertex; parallel arcs go together.

    Parameters
    ----------
    layer_dependency : whether the sources have the same numbers in all hops, too, for still fewer vertices.

    Other parameters and errors are those of NeighborSampler; with -1 a hop takes all arcs.
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
        seed: int = 0,
    ):
        options: dict[str, Any] = {"induced": induced, "num_vertices": num_vertices, "direction": direction}
        super().__init__(graph, num_neighbors, seed=seed, **options)
        self.layer_dependency = layer_dependency

    def _drawn(
        self, relations: list[Relation], seeds: dict[int, Tensor], hops: int, key: int, latest_time: Tensor | None
    ) -> Sampled:
        none = torch.empty(0, dtype=torch.int64)
        vertices = [seeds.get(kind, none) for kind in range(len(self.node_types))]
        sizes = [[len(each)] for each in vertices]
        begin = [0] * len(vertices)
        arcs: list[list[tuple[Tensor, Tensor, Tensor]]] = [[(none, none, none)] for _ in relations]
        for hop in range(hops):
            end = [len(each) for each in vertices]
            of_hop = key if self.layer_dependency else random.key(key, hop)
            for relation, found in zip(relations, arcs, strict=True):
                places = torch.arange(begin[relation.target], end[relation.target])
                targets = vertices[relation.target][places]
                count, arc = _least(relation, targets, relation.fanout[hop], random.key(of_hop, relation.source))
                neighbors = relation.neighbors[arc].long()
                row, vertices[relation.source] = number_vertices(vertices[relation.source], neighbors)
                found.append((row, places.repeat_interleave(count), arc))
            begin = end
            for each, size in zip(vertices, sizes, strict=True):
                size.append(len(each) - sum(size))
        rows, columns, numbers = ([torch.cat([hop[i] for hop in found]) for found in arcs] for i in range(3))
        counts: list[list[int] | None] = [[len(hop[0]) for hop in found[1:]] for found in arcs]
        return Sampled(vertices, None, sizes, rows, columns, numbers, counts)


def _least(relation: Relation, rows: Tensor, fanout: int, key: int) -> tuple[Tensor, Tensor]:
    """The arcs of rows by the words of their sources; all for a negative fan-out."""
    if fanout < 0:
        bounds, arc = gather_rows(relation.offset, rows)
        return bounds.diff(), arc
    return least_arcs(relation.offset, relation.neighbors, rows, fanout, key)
