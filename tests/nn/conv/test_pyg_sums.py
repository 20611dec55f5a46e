"""Layers that weigh and sum, without attention, against PyTorch Geometric's, in float64: forward, gradients, parameters
and printed form."""

import pytest
import torch
from nn_samples import KINDS, agree, close, edges, features
from test_pyg import both

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.errors import ArgumentError

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in ("Sparse", "Converting sparse", ".*sparse CSR")
]

SIZES = ((12, 7), (7, 12))


def between(sizes, count=40):
    """Edges from one set of vertices to another, the last of which has none."""
    random = torch.Generator().manual_seed(3)
    return torch.stack([torch.randint(0, size - 1, (count,), generator=random) for size in sizes])


def matrix(edge_index, num_vertices, weight):
    size = (num_vertices, num_vertices)
    return torch.sparse_coo_tensor(edge_index.flip(0), weight, size, check_invariants=False).coalesce()


@pytest.mark.parametrize("sizes", SIZES)
def test_graph_between_two_sets(sizes):
    edge_index, weight = between(sizes), features(40)
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    for aggr in ("add", "max"):
        ours, other = both("GraphConv", ((4, 6), 3), {"aggr": aggr, "bias": False})
        agree(ours, other, pair, edge_index, weight)
        agree(ours, other, (pair[0], None), edge_index, weight, sizes)


def test_cached_features_are_kept():
    edge_index, n = edges("hub")
    ours, other = both("SGConv", (6, 2), {"K": 2, "cached": True})
    agree(ours, other, features(n, 6), edge_index)
    agree(ours, other, features(n, 6, seed=3), edge_index[:, :4])
    close(ours._cached_x, other._cached_x)
    ours.reset_parameters()
    assert ours._cached_x is None


@pytest.mark.parametrize("kind", KINDS)
def test_dropped_edges_are_the_same(kind):
    edge_index, n = edges(kind)
    ours, other = both("APPNP", (3, 0.2), {"dropout": 0.5})
    found = []
    for layer in (ours, other):
        torch.manual_seed(3)
        found.append(layer(features(n, 5), edge_index))
    close(*found)
    close(ours.eval()(features(n, 5), edge_index), other.eval()(features(n, 5), edge_index))
    graph = tg.Graph.from_edges(*edge_index, num_vertices=n)
    assert ours.train()(features(n, 5), graph).isfinite().all()


def test_weights_of_matrices_and_graphs():
    edge_index, n = edges("hub")
    x, weight = features(n, 5), features(edge_index.shape[1]).abs()
    adj = matrix(edge_index, n, weight)
    graph = tg.Graph.from_edges(*edge_index, weight, num_vertices=n)
    stored = torch.stack((sorting.expand_rows(graph.offset), graph.neighbors.long()))
    for name, arguments in (("GraphConv", (5, 3)), ("SGConv", (5, 3)), ("APPNP", (2, 0.1))):
        ours, other = both(name, arguments, {})
        agree(ours, other, x, adj)
        close(ours(x, graph), other(x, stored, graph.weights))
    with pytest.raises(ArgumentError, match="edge_weight: expected"):
        tg.nn.GraphConv(5, 3).double()(x, edge_index, weight[:3])
    agree(*both("GraphConv", (5, 3), {}), features(3, n, 5), edge_index)
