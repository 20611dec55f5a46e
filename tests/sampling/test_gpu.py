"""Batches of a graph on a GPU are those of the same graph on the CPU, where samplers draw."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import tgraph as tg
from tgraph.sampling import LaborSampler, NeighborSampler, saint_edges, saint_nodes, saint_walks

KEY = tg.random.key(3)
DRAWN: dict[str, Callable[[tg.Graph, Tensor], Tensor]] = {
    "neighbours": lambda graph, seeds: NeighborSampler(graph, [3, 2], seed=5).sample(seeds).node,
    "by weight": lambda graph, seeds: NeighborSampler(graph, [3, 2], weighted=True, seed=5).sample(seeds).node,
    "against arcs": lambda graph, seeds: NeighborSampler(graph, [3], direction="out", seed=5).sample(seeds).node,
    "by time": lambda graph, seeds: NeighborSampler(graph, [3], node_time=graph.out_degree, seed=5).sample(seeds).node,
    "labor": lambda graph, seeds: LaborSampler(graph, [3, 2], seed=5).sample(seeds).node,
    "saint, vertices": lambda graph, seeds: saint_nodes(graph, 20, KEY),
    "saint, few edges": lambda graph, seeds: saint_edges(graph, 20, KEY),
    "saint, many edges": lambda graph, seeds: saint_edges(graph, 300, KEY),
    "saint, walks": lambda graph, seeds: saint_walks(graph, 5, 4, KEY),
}
ON_A_GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device")]


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=ON_A_GPU)])
def test_what_is_drawn_is_that_of_the_cpu(device: str, name: str):
    graph, seeds = tg.generators.rmat(7, weighted=True, directed=True, seed=1), torch.arange(0, 100, 10)
    found = DRAWN[name](graph.to(device), seeds.to(device))
    assert torch.equal(found.cpu(), DRAWN[name](graph, seeds))
    assert len(found) >= 5
