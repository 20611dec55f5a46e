"""Spectral embeddings against scipy."""

import numpy as np
import pytest
import scipy.sparse.csgraph
import scipy.sparse.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, random_graph

import tgraph as tg
from tgraph.algorithms import spectral_embedding
from tgraph.errors import ArgumentError, NotConvergedError


def laplacian(graph, weighted):
    n = graph.num_vertices
    matrix = np.zeros((n, n))
    for u, v, w in arcs(graph):
        matrix[u, v] += (w if weighted else 1) if u != v else 0
    root = np.sqrt(matrix.sum(1))
    scale = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
    return np.diag((root > 0).astype(float)) - scale[:, None] * matrix * scale, scale


@given(graphs(min_vertices=1, directed=False, dtypes=(None, torch.int32, torch.float64)), st.booleans(), st.booleans())
def test_points_are_eigenvectors(graph, weighted, drop_first):
    weighted = weighted and graph.weights is not None
    count = min(3, graph.num_vertices - drop_first)
    options = {"weighted": weighted, "normalize": False, "drop_first": drop_first}
    points, values = spectral_embedding(graph, count, **options)
    matrix, _ = laplacian(graph, weighted)
    expected = np.linalg.eigvalsh(matrix)[int(drop_first) :][:count]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)
    assert np.allclose(matrix @ points.numpy(), points.numpy() * values.numpy(), atol=1e-8)
    assert np.allclose(points.T @ points, np.eye(count), atol=1e-8)
    assert all(column[column.abs().argmax()] > 0 for column in points.T)


def connected(n, m, seed):
    ring = torch.arange(n)
    found = random_graph(n, m, seed=seed, directed=False)
    source = torch.cat((ring, torch.arange(n).repeat_interleave(found.out_degree)))
    return tg.Graph.from_edges(source, torch.cat(((ring + 1) % n, found.neighbors.long())), directed=False)


@pytest.mark.thorough
def test_a_larger_graph_equals_scipy():
    graph = connected(1500, 3000, 1)
    points, values = spectral_embedding(graph, 4, tol=1e-9)
    matrix = scipy.sparse.csgraph.laplacian(graph.to_scipy().astype(float), normed=True)
    expected, vectors = scipy.sparse.linalg.eigsh(matrix, 5, sigma=-0.01)
    degree = graph.without_self_loops().out_degree.numpy()
    assert values.tolist() == pytest.approx(expected[1:], abs=1e-8)
    for found, vector in zip(points.T.numpy(), vectors.T[1:], strict=True):
        vector = vector / np.sqrt(degree)
        assert np.allclose(found, vector * np.sign(vector[np.abs(found).argmax()]), atol=1e-5)
    again, _ = spectral_embedding(graph.to_format("sell"), 4, tol=1e-9)
    assert torch.allclose(points, again, atol=1e-7)


def test_several_components():
    """Eigenvalue 0 as often as there are components, of which one is a vertex alone."""
    part = connected(600, 1200, 2)
    graph = tg.algorithms.disjoint_union(tg.algorithms.disjoint_union(part, part), connected(1, 0, 0))
    points, values = spectral_embedding(graph, 4, drop_first=False)
    assert values.tolist()[:3] == pytest.approx([0, 0, 0], abs=1e-8)
    assert points.shape == (1201, 4)


def test_two_communities_lie_apart():
    graph = tg.generators.stochastic_block_model([600, 600], [[0.05, 0.005], [0.005, 0.05]], seed=1)
    side = spectral_embedding(graph, 1)[0][:, 0] > 0
    assert float((side[:600].double().mean() - side[600:].double().mean()).abs()) > 0.98


def test_what_cannot_be():
    graph = tg.Graph.from_edges([0, 1], [1, 2], directed=False)
    assert spectral_embedding(tg.Graph.from_edges([], [], directed=False), 0, drop_first=False)[0].shape == (0, 0)
    with pytest.raises(ArgumentError, match="dimensions: expected 0 to 2, got 3"):
        spectral_embedding(graph, 3)
    with pytest.raises(NotConvergedError, match="max_iterations: the residual is"):
        spectral_embedding(tg.generators.cycle(2000), 2, max_iterations=1)
