"""Cluster-GCN: batches of parts of a partition (Chiang et al., "Cluster-GCN: An efficient algorithm for training deep
and large graph convolutional networks", KDD 2019)."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch_geometric import loader as pyg

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.reordering import metis_parts
from tgraph.pyg.checks import check_count
from tgraph.pyg.prefetching import Prefetching, check_prefetch


class ClusterData(pyg.ClusterData):
    """`torch_geometric.loader.ClusterData`, with its arguments, without pyg-lib and torch-sparse; the partition ignores
    the direction of edges. Needs pymetis: `pip install "tgraph[metis]"`.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import ClusterData
    >>> data = Data(edge_index=tg.generators.barbell(4, 0).to_edge_index(), num_nodes=8)
    >>> clusters = ClusterData(data, num_parts=2, log=False)
    >>> [clusters[i].num_nodes for i in range(2)]
    [4, 4]
    """

    def _metis(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        """The part of each vertex."""
        check_count("num_parts", self.num_parts, 1, num_nodes)
        source, target = edge_index.cpu()
        graph = Graph.from_edges(source, target, num_vertices=num_nodes).to_undirected("first").without_self_loops()
        return metis_parts(graph, self.num_parts, "ClusterData", recursive=self.recursive).to(edge_index.device)


class ClusterLoader(Prefetching, pyg.ClusterLoader):
    """`torch_geometric.loader.ClusterLoader`, with its arguments. prefetch : as of `NeighborLoader`.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import ClusterData, ClusterLoader
    >>> data = Data(edge_index=tg.generators.barbell(4, 0).to_edge_index(), num_nodes=8)
    >>> loader = ClusterLoader(ClusterData(data, num_parts=2, log=False), batch_size=1)
    >>> [batch.num_nodes for batch in loader]
    [4, 4]
    """

    def __init__(self, cluster_data: Any, prefetch: int | None = None, **kwargs: Any):
        self.prefetch: int | None = check_prefetch(prefetch)
        if not isinstance(cluster_data, pyg.ClusterData):
            raise ArgumentError(f"cluster_data: expected a ClusterData(...), got {type(cluster_data).__name__}")
        self.data: Any = cluster_data.data
        super().__init__(cluster_data, **kwargs)

    def _drawing(self) -> None:
        """None: only the order of the parts is drawn."""
