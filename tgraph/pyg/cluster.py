"""Batches of the parts of a partition (Chiang et al., "Cluster-GCN: An efficient algorithm for training deep and large
graph convolutional networks", KDD 2019)."""

from __future__ import annotations

from torch import Tensor
from torch_geometric import loader as pyg

from tgraph.core.graph import Graph
from tgraph.formats.reordering import metis_parts


class ClusterData(pyg.ClusterData):
    """`torch_geometric.loader.ClusterData`, with its arguments, without pyg-lib and torch-sparse; directions of edges
    do not count for the partition. Takes pymetis: `pip install "tgraph[metis]"`."""

    def _metis(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        """The part of each vertex."""
        source, target = edge_index.cpu()
        graph = Graph.from_edges(source, target, num_vertices=num_nodes).to_undirected("first").without_self_loops()
        return metis_parts(graph, self.num_parts, "ClusterData", recursive=self.recursive).to(edge_index.device)


ClusterLoader = pyg.ClusterLoader
