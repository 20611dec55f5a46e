"""HGTConv and PNAConv against PyTorch Geometric's, in float64: forward, gradients, parameters and printed form."""

import copy

import pytest
import torch
from nn_samples import RELATIONS, SIZES, agree, built, close, edges, features, same
from strategies import refused
from test_pyg import AGGREGATORS, DEGREES, SCALERS, both

import tgraph as tg
from tgraph.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("float64")


@pytest.mark.parametrize("names", [["mean"], ["std", "max"], ["var", "sum", "var"]], ids=str)
def test_some_aggregators(names):
    edge_index, n = edges("hub")
    for scalers in (["identity"], ["attenuation", "linear"]):
        agree(*both("PNAConv", (4, 6, names, scalers, DEGREES), {}), features(n, 4), edge_index)


def test_no_messages_are_made(monkeypatch):
    from tgraph.nn.conv import pna_conv

    for name in ("at_sources", "at_targets", "reduced"):
        monkeypatch.setattr(pna_conv, name, None)
    edge_index, n = edges("hub")
    ours = built(tg.nn, "PNAConv", (4, 6, AGGREGATORS, SCALERS, DEGREES), {"towers": 2})
    ours(features(n, 4).requires_grad_(), edge_index).sum().backward()
    with pytest.raises(TypeError):
        built(tg.nn, "PNAConv", (4, 6, AGGREGATORS, SCALERS, DEGREES), {"pre_layers": 2})(features(n, 4), edge_index)


def test_accelerated_aggregators():
    from torch_geometric import nn as theirs

    edge_index, n = edges("hub")
    model = theirs.PNAConv(4, 6, AGGREGATORS, SCALERS, DEGREES, towers=3)
    before = copy.deepcopy(model)
    assert tg.nn.accelerate(model).replaced == {"": "PNAConv"} and type(model) is not theirs.PNAConv
    agree(model, before, features(n, 4), edge_index)
    kept = tg.nn.accelerate(theirs.PNAConv(4, 6, ["mean", "median"], SCALERS, DEGREES)).kept[""]
    assert kept.startswith("'median' is not one of the aggregators")


def test_aggregators_without_pyg(monkeypatch):
    from tgraph.nn.conv import degree_scalers

    monkeypatch.setattr(degree_scalers, "HAS_NAMESAKES", False)
    module = degree_scalers.degree_scalers(AGGREGATORS, SCALERS, DEGREES, True)
    monkeypatch.undo()
    theirs = degree_scalers.degree_scalers(AGGREGATORS, SCALERS, DEGREES, True)
    assert {**module.state_dict()} == {**theirs.state_dict()} and str(module) == str(theirs)
    data, degree = features(5, 2, 3), torch.arange(5)
    close(degree_scalers.scaled(module, data, degree), degree_scalers.scaled(theirs, data, degree))
    assert degree_scalers.names_of(module) == degree_scalers.names_of(theirs) == AGGREGATORS


# ---- heterogeneous graph transformer --------------------------------------------------------------------------------


def typed(widths, relations=RELATIONS):
    """({type: x}, {relation: edge_index}); the last vertex of each type has no edges."""
    random = torch.Generator().manual_seed(2)
    edge_index = {}
    for kind in relations:
        ends = [torch.randint(SIZES[end] - 1, (12,), generator=random) for end in (kind[0], kind[-1])]
        edge_index[kind] = torch.stack(ends)
    return {kind: features(SIZES[kind], columns, seed=len(kind)) for kind, columns in widths.items()}, edge_index


def transformers(in_channels, out_channels=6, heads=2, relations=RELATIONS):
    return both("HGTConv", (in_channels, out_channels, (list(SIZES), relations)), {"heads": heads})


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("widths", [dict.fromkeys(SIZES, 6), {"author": 4, "paper": 6, "venue": 5}], ids=str)
def test_transformer(widths, heads):
    ours, theirs = transformers(widths, heads=heads)
    same(ours, theirs, *typed(widths))


def test_columns_of_the_first_input():
    widths = {"author": 4, "paper": 6, "venue": 5}
    ours, theirs = (built(library, "HGTConv", (-1, 6, (list(SIZES), RELATIONS)), {}) for library in libraries())
    x, edge_index = typed(widths)
    ours(x, edge_index), theirs(x, edge_index)
    ours.load_state_dict(theirs.state_dict())
    same(ours, theirs, x, edge_index)


def libraries():
    from torch_geometric import nn as theirs

    return tg.nn, theirs


def test_missing_types():
    widths = dict.fromkeys(SIZES, 6)
    ours, theirs = transformers(widths)
    x, edge_index = typed(widths)
    fewer = {kind: edge_index[kind] for kind in RELATIONS[:2]}
    same(ours, theirs, x, fewer)
    same(ours, theirs, {kind: x[kind] for kind in ("author", "paper")}, fewer)
    assert set(ours(x, {})) == set(SIZES)


def test_relations_in_another_order():
    """PyTorch Geometric takes the types of rows for sorted, and so the weights of other relations."""
    widths = dict.fromkeys(SIZES, 6)
    ours, _ = transformers(widths)
    x, edge_index = typed(widths)
    expected = ours(x, edge_index)
    turned = ours(x, dict(reversed(edge_index.items())))
    for kind in expected:
        close(turned[kind], expected[kind])


def test_sparse_relations():
    widths = dict.fromkeys(SIZES, 6)
    ours, theirs = transformers(widths)
    x, edge_index = typed(widths)
    edge_index = {kind: each.unique(dim=1) for kind, each in edge_index.items()}
    matrices = {
        kind: torch.sparse_coo_tensor(each.flip(0), torch.ones(each.shape[1]), (SIZES[kind[-1]], SIZES[kind[0]]))
        for kind, each in edge_index.items()
    }
    same(ours, theirs, x, edge_index, given=matrices)


def test_other_edges_of_a_relation():
    widths = dict.fromkeys(SIZES, 6)
    ours, theirs = transformers(widths)
    x, edge_index = typed(widths)
    for kind in RELATIONS:
        same(ours, theirs, x, edge_index)
        edge_index[kind][0, :3] = 0
    edge_index[RELATIONS[1]] = edge_index[RELATIONS[1]].flip(1)
    same(ours, theirs, x, edge_index)


def test_an_accelerated_transformer():
    from torch_geometric import nn as theirs

    widths = dict.fromkeys(SIZES, 6)
    model = theirs.HGTConv(6, 6, (list(SIZES), RELATIONS), heads=2)
    before = copy.deepcopy(model)
    assert tg.nn.accelerate(model).replaced
    same(model, before, *typed(widths))
    assert tg.nn.restore(model) == [""]


def test_errors_name_the_argument():
    edge_index, n = edges("hub")
    refused("aggregators: 'median' is not one of", tg.nn.PNAConv, 4, 4, ["median"], SCALERS, DEGREES)
    refused("scalers: 'cubic' is not one of", tg.nn.PNAConv, 4, 4, ["mean"], ["cubic"], DEGREES)
    refused("towers: 3 do not divide out_channels=4", tg.nn.PNAConv, 4, 4, ["mean"], SCALERS, DEGREES, towers=3)
    refused("act: 'nothing'", tg.nn.PNAConv, 4, 4, ["mean"], SCALERS, DEGREES, pre_layers=2, act="nothing")
    with pytest.raises(ArgumentError, match="edge_attr and edge_dim"):
        tg.nn.PNAConv(4, 4, ["mean"], SCALERS, DEGREES)(features(n, 4), edge_index, features(edge_index.shape[1], 2))
    refused("heads: 4 do not divide", transformers, 6, heads=4)
    x, edge_index = typed(dict.fromkeys(SIZES, 6))
    layer = tg.nn.HGTConv(6, 6, (list(SIZES), RELATIONS))
    refused("x_dict: has no features of 'venue'", layer, {kind: x[kind] for kind in ("author", "paper")}, edge_index)
    refused("no edges of type", layer, x, {("author", "likes", "author"): edge_index[RELATIONS[0]]})
    edge_index[RELATIONS[0]][0, 0] = 5
    refused("5", layer, x, edge_index)
    refused("flow", tg.nn.HGTConv, 6, 6, (list(SIZES), RELATIONS), flow="target_to_source")
