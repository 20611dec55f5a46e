"""Graphs of 2^31 vertices and more, whose neighbours are int64, are left to the portable backend by most kernels."""

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.core.dispatch import refusal
from tgraph.core.system import native

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")

ALGORITHMS = (
    tg.algorithms.scc,
    tg.algorithms.wcc,
    lambda graph: tg.algorithms.articulation_points(graph).sum(),
    tg.algorithms.greedy_color,
    tg.algorithms.is_bipartite,
    tg.algorithms.is_dag,
    tg.algorithms.triangle_count,
    tg.algorithms.square_clustering,
    tg.algorithms.truss_number,
    tg.algorithms.maximal_clique_sizes,
    tg.algorithms.betweenness,
    tg.algorithms.edge_betweenness,
    tg.algorithms.closeness,
    tg.algorithms.maximal_independent_set,
    lambda graph: tg.algorithms.random_walks(graph, [0, 1], 5, seed=1),
)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_wide_neighbours_give_the_same(monkeypatch, algorithm):
    narrow = random_graph(40, 120, seed=1, directed=False)
    expected = algorithm(narrow)
    monkeypatch.setattr(sorting, "index_dtype", lambda num_vertices: torch.int64)
    wide = tg.Graph(narrow.offset, narrow.neighbors, directed=False)
    assert wide.neighbors.dtype == torch.int64
    found = algorithm(wide)
    assert torch.allclose(torch.as_tensor(found).double(), torch.as_tensor(expected).double(), rtol=1e-12)


@pytest.mark.parametrize("operator", ["label_strong", "longest", "count_levels", "paths_inside", "count_triangles"])
def test_the_refusal_says_why(monkeypatch, operator):
    narrow = random_graph(40, 120, seed=1)
    monkeypatch.setattr(sorting, "index_dtype", lambda num_vertices: torch.int64)
    wide = tg.Graph(narrow.offset, narrow.neighbors.long())
    assert refusal("native", operator, narrow, None, None) is None
    assert "fewer than 2^31 vertices" in refusal("native", operator, wide, None, None)
