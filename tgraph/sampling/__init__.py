"""Mini-batches: vertices and arcs sampled around seeds.

    sampler = tg.sampling.NeighborSampler(graph, [15, 10], seed=7)
    batch = sampler.sample(seeds)
    batch.node, batch.row, batch.col, batch.edge

Samplers read the arcs in their layout, and their results depend on the seed alone: not on threads or processes.
"""

from tgraph.sampling.ahead import ahead
from tgraph.sampling.blocks import Block, blocks
from tgraph.sampling.budget_sampler import BudgetSampler
from tgraph.sampling.labor_sampler import LaborSampler
from tgraph.sampling.layer_sampler import LayerSampler
from tgraph.sampling.negative_sampler import NegativeSampler, negative_edges
from tgraph.sampling.neighbor_sampler import NeighborSampler
from tgraph.sampling.output import SamplerOutput
from tgraph.sampling.pinsage_sampler import PinSAGESampler
from tgraph.sampling.ppr_sampler import PPRSampler
from tgraph.sampling.saint import saint_edges, saint_nodes, saint_walks

__all__ = [
    "Block",
    "BudgetSampler",
    "LaborSampler",
    "LayerSampler",
    "NegativeSampler",
    "NeighborSampler",
    "PPRSampler",
    "PinSAGESampler",
    "SamplerOutput",
    "ahead",
    "blocks",
    "negative_edges",
    "saint_edges",
    "saint_nodes",
    "saint_walks",
]
