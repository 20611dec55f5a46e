"""Algorithms of the library that go over the arcs block by block: on streamed graphs as on graphs in memory."""

import pytest
import torch
from streams import loads, streamed

import tgraph as tg

RUNS = {
    "hits": lambda graph: tg.algorithms.hits(graph)[0],
    "eigenvector": lambda graph: tg.algorithms.eigenvector(graph, max_iterations=1000),
    "katz": lambda graph: tg.algorithms.katz(graph, alpha=1e-3),
    "widest_path": lambda graph: tg.algorithms.widest_path(graph, 0),
    "degree_centrality": lambda graph: tg.algorithms.degree_centrality(graph),
    "average_neighbor_degree": lambda graph: tg.algorithms.average_neighbor_degree(graph),
    "degree_distribution": lambda graph: tg.algorithms.degree_distribution(graph),
    "spectral_embedding": lambda graph: tg.algorithms.spectral_embedding(graph, 2, weighted=True)[1],
    "simrank": lambda graph: tg.algorithms.simrank(graph, tol=1e-2),
}


@pytest.mark.parametrize("name", RUNS)
def test_results_are_those_in_memory(name):
    graph = tg.generators.rmat(8, weighted=True)
    blocks = streamed(graph, 7, slack=graph.num_vertices * 48)
    found, expected = RUNS[name](blocks), RUNS[name](graph)
    assert torch.allclose(found.double(), expected.double(), rtol=1e-5, atol=1e-9)
    assert loads(blocks) > 0 or name.startswith("degree")
