"""PyTorch Geometric's loaders without pyg-lib and torch-sparse, with the same names, arguments and batches, sampled by
`tgraph.sampling`.

    from tgraph.pyg import NeighborLoader

    loader = NeighborLoader(data, num_neighbors=[15, 10], batch_size=1024, input_nodes=data.train_mask, shuffle=True)
"""

from tgraph.pyg.cluster import ClusterData, ClusterLoader
from tgraph.pyg.hgt import HGTLoader, HGTSampler
from tgraph.pyg.loaders import LinkNeighborLoader, NeighborLoader
from tgraph.pyg.random_nodes import RandomNodeLoader
from tgraph.pyg.saint import (
    GraphSAINTEdgeSampler,
    GraphSAINTNodeSampler,
    GraphSAINTRandomWalkSampler,
    GraphSAINTSampler,
)
from tgraph.pyg.sampler import NeighborSampler
from tgraph.pyg.shadow import ShaDowKHopSampler, ShaDowPPRSampler

__all__ = [
    "ClusterData",
    "ClusterLoader",
    "GraphSAINTEdgeSampler",
    "GraphSAINTNodeSampler",
    "GraphSAINTRandomWalkSampler",
    "GraphSAINTSampler",
    "HGTLoader",
    "HGTSampler",
    "LinkNeighborLoader",
    "NeighborLoader",
    "NeighborSampler",
    "RandomNodeLoader",
    "ShaDowKHopSampler",
    "ShaDowPPRSampler",
]
