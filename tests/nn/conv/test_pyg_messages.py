"""Layers that make messages against PyTorch Geometric's, in float64: forward, gradients, parameters, printed form."""

import pytest
import torch
from nn_samples import agree, edges, features
from strategies import refused
from test_pyg import around, both, network
from test_pyg_sums import SIZES, between

import tgraph as tg


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
    refused("edge_attr: GINEConv needs", lambda: tg.nn.GINEConv(network(4))(x, edge_index))
    refused("edge_attr: 3 columns, x has 4", lambda: tg.nn.GINEConv(network(4))(x, edge_index, edge_attr))
    refused("edge_attr and edge_dim", lambda: tg.nn.ResGatedGraphConv(4, 3).double()(x, edge_index, edge_attr))
    refused("in_features", tg.nn.GINEConv, torch.nn.Tanh(), edge_dim=3, error=ValueError)
