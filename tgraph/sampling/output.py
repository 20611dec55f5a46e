"""The result of a sampler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

EdgeType = tuple[str, str, str]  # (source, relation, destination)

PerNode = Tensor | Mapping[str, Tensor]
PerEdge = Tensor | Mapping[EdgeType, Tensor]


@dataclass(frozen=True)
class SamplerOutput:
    """A sampled subgraph, with PyTorch Geometric's field names. For a heterogeneous graph each field is a dictionary,
    by type of vertices or of edges.

    node : int64, the sampled vertices in the order of first occurrence, after the seeds with their repetitions.
    row, col : int64 [e], source and destination of each sampled arc, as positions in `node`.
    edge : int64 [e], the numbers of the arcs in the graph, or None.
    batch : int64, the number of the seed of each vertex's tree, where trees are disjoint, else None.
    num_sampled_nodes : numbers of vertices added by the seeds and by each hop. num_sampled_edges : numbers of arcs
        added by each hop, None for induced arcs. weight : [e], of each arc, or None.

    >>> graph = tg.Graph.from_edges([1, 2], [0, 0])
    >>> sample = tg.sampling.NeighborSampler(graph, [-1]).sample([0])
    >>> sample.node, sample.row, sample.col, sample.edge
    (tensor([0, 1, 2]), tensor([1, 2]), tensor([0, 0]), tensor([0, 1]))
    """

    node: PerNode
    row: PerEdge
    col: PerEdge
    edge: PerEdge | None
    batch: PerNode | None = None
    num_sampled_nodes: Any = None
    num_sampled_edges: Any = None
    weight: PerEdge | None = None

    def __repr__(self) -> str:
        arcs = {kind: len(row) for kind, row in self.row.items()} if isinstance(self.row, Mapping) else len(self.row)
        node = self.node
        vertices = {kind: len(each) for kind, each in node.items()} if isinstance(node, Mapping) else len(node)
        return f"SamplerOutput({vertices} vertices, {arcs} arcs)"
