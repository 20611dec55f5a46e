"""Layers that make messages against PyTorch Geometric's, in float64: forward, gradients, parameters, printed form."""

import copy

import pytest
import torch
from nn_samples import KINDS, agree, edges, features
from test_pyg import FLOWS, both
from test_pyg_sums import SIZES, between

import tgraph as tg
from tgraph.errors import ArgumentError

AGGRS = ("add", "mean", "min", "max")


def network(columns):
    parts = torch.nn.Linear(columns, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)
    return torch.nn.Sequential(*parts).double()


def around(name, nn, options):
    """Both layers with a network of their own."""
    ours, other = both(name, (nn,), options)
    other.nn = copy.deepcopy(nn)
    return ours, other


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("aggr", AGGRS)
@pytest.mark.parametrize("kind", KINDS)
def test_isomorphism_with_edges(kind, aggr, flow):
    edge_index, n = edges(kind)
    for options in ({}, {"edge_dim": 3}, {"train_eps": True, "eps": 0.3}):
        ours, other = around("GINEConv", network(4), {"aggr": aggr, "flow": flow, **options})
        agree(ours, other, features(n, 4), edge_index, features(edge_index.shape[1], options.get("edge_dim", 4)))


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("aggr", AGGRS)
@pytest.mark.parametrize("kind", KINDS)
def test_edge_convolution(kind, aggr, flow):
    edge_index, n = edges(kind)
    for nn in (network(8), torch.nn.Linear(8, 3).double(), torch.nn.Sequential(torch.nn.Tanh(), network(8))):
        agree(*around("EdgeConv", nn, {"aggr": aggr, "flow": flow}), features(n, 4), edge_index)


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"root_weight": False, "bias": False}, {"aggr": "mean"}, {"act": torch.nn.Tanh()}], ids=str
)
def test_gates(kind, options, flow):
    edge_index, n = edges(kind)
    for more in ((), (features(edge_index.shape[1], 3, seed=2),)):
        dims = {"edge_dim": 3} if more else {}
        ours, other = both("ResGatedGraphConv", (5, 3), {"flow": flow, **options, **dims})
        agree(ours, other, features(n, 5), edge_index, *more)


@pytest.mark.parametrize("sizes", SIZES)
def test_between_two_sets(sizes):
    edge_index, edge_attr = between(sizes), features(40, 3, seed=4)
    pair, wide = (features(sizes[0], 4), features(sizes[1], 4, seed=2)), features(sizes[1], 6, seed=2)
    agree(*around("GINEConv", network(4), {"edge_dim": 3}), pair, edge_index, edge_attr)
    agree(*around("GINEConv", network(4), {"edge_dim": 3}), (pair[0], None), edge_index, edge_attr, sizes)
    agree(*around("EdgeConv", network(8), {}), pair, edge_index)
    agree(*both("ResGatedGraphConv", ((4, 6), 3), {}), (pair[0], wide), edge_index)
    agree(*both("ResGatedGraphConv", ((4, 6), 3), {"edge_dim": 3}), (pair[0], wide), edge_index, edge_attr)


def test_static_graphs():
    edge_index, n = edges("hub")
    x = features(2, n, 4)
    agree(*around("GINEConv", network(4), {}), x, edge_index, features(edge_index.shape[1], 4))
    agree(*around("EdgeConv", network(8), {}), x, edge_index)
    agree(*both("ResGatedGraphConv", (4, 3), {}), x, edge_index)


def test_hooks_of_networks_are_called():
    edge_index, n = edges("hub")
    layer, seen = tg.nn.EdgeConv(network(8)), []
    expected = layer(features(n, 4), edge_index)
    layer.nn.register_forward_hook(lambda module, args, out: seen.append(len(out)))
    assert torch.allclose(layer(features(n, 4), edge_index), expected)
    assert seen == [edge_index.shape[1]]


def test_errors_name_the_argument():
    edge_index, n = edges("hub")
    x, edge_attr = features(n, 4), features(edge_index.shape[1], 3)
    with pytest.raises(ArgumentError, match="edge_attr: GINEConv needs"):
        tg.nn.GINEConv(network(4))(x, edge_index)
    with pytest.raises(ArgumentError, match="edge_attr: 3 columns, x has 4"):
        tg.nn.GINEConv(network(4))(x, edge_index, edge_attr)
    with pytest.raises(ArgumentError, match="edge_attr and edge_dim"):
        tg.nn.ResGatedGraphConv(4, 3).double()(x, edge_index, edge_attr)
    with pytest.raises(ValueError, match="in_features"):
        tg.nn.GINEConv(torch.nn.Tanh(), edge_dim=3)
