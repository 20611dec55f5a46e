"""Relational convolution against PyTorch Geometric's, in float64: forward, gradients, parameters and printed form."""

import pytest
import torch
from nn_samples import agree, close, edges, features
from strategies import refused
from test_pyg import both, types
from test_pyg_sums import SIZES, between

import tgraph as tg
from tgraph.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("float64")


@pytest.mark.parametrize("options", [{}, {"num_bases": 2}], ids=str)
def test_rows_of_the_weight(options):
    edge_index, n = edges("hub")
    ours, other = both("RGCNConv", (n, 3, 3), options)
    close(ours(None, edge_index, types(edge_index)), other(None, edge_index, types(edge_index)))
    number = torch.arange(n).flip(0)
    close(ours(number, edge_index, types(edge_index)), other(number, edge_index, types(edge_index)))


@pytest.mark.parametrize("sizes", SIZES)
def test_relations_between_two_sets(sizes):
    edge_index = between(sizes)
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    agree(*both("RGCNConv", ((4, 6), 3, 3), {}), pair, edge_index, types(edge_index))


def test_other_types_of_the_same_edges():
    edge_index, n = edges("hub")
    ours, other = both("RGCNConv", (4, 3, 3), {})
    given = types(edge_index)
    for _ in range(2):
        agree(ours, other, features(n, 4), edge_index, given)
        given[:5] = 2
        agree(ours, other, features(n, 4), edge_index, given)
        given = given.flip(0)


def test_an_accelerated_model_computes_the_same():
    edge_index, n = edges("hub")
    _, other = both("RGCNConv", (4, 3, 3), {"num_bases": 2})
    expected = other(features(n, 4), edge_index, types(edge_index))
    assert tg.nn.accelerate(other).replaced
    close(other(features(n, 4), edge_index, types(edge_index)), expected)
    assert tg.nn.restore(other)


def test_errors_name_the_argument():
    edge_index, n = edges("hub")
    layer = tg.nn.RGCNConv(4, 3, 3)
    refused("edge_type: expected", layer, features(n, 4), edge_index)
    refused("edge_type: expected", layer, features(n, 4), edge_index, torch.zeros(3, dtype=torch.int64))
    wrong = types(edge_index).clone()
    for options in ({}, {"num_bases": 2}, {"aggr": "max"}):
        for bad in (3, -1):
            wrong[7] = bad
            with pytest.raises(ArgumentError, match=f"relations from 0 to 2, got {bad} at edge 7"):
                tg.nn.RGCNConv(4, 3, 3, **options)(features(n, 4), edge_index, wrong)
    refused("num_bases, num_blocks", tg.nn.RGCNConv, 4, 3, 3, num_bases=2, num_blocks=2)
    refused("num_blocks: 2 does not divide", tg.nn.RGCNConv, 4, 3, 3, num_blocks=2)
    with pytest.raises(ArgumentError, match="x: num_blocks"):
        tg.nn.RGCNConv(4, 2, 3, num_blocks=2)(torch.arange(n), edge_index, types(edge_index))
