"""Inputs of every shape, two sets of vertices, and parameters that differ, against PyTorch Geometric's in float64."""

import copy

import pytest
import torch
from nn_samples import KINDS, agree, close, edges, features
from strategies import thread_count
from test_pyg import both

LAYERS = {
    "GCNConv": ((6, 4), {}),
    "GCNConv improved": ((6, 4), {"improved": True, "bias": False}),
    "SAGEConv": ((6, 4), {"project": True, "normalize": True}),
    "SAGEConv max": ((6, 4), {"aggr": "max"}),
    "GINConv": (None, {"train_eps": True}),
    "GATConv": ((6, 2), {"heads": 2, "edge_dim": 3, "residual": True}),
    "GATv2Conv": ((6, 2), {"heads": 2, "edge_dim": 3, "residual": True}),
    "GATv2Conv shared": ((6, 2), {"heads": 2, "edge_dim": 3, "share_weights": True, "concat": False}),
    "TransformerConv": ((6, 2), {"heads": 2, "edge_dim": 3, "beta": True}),
}


def of_both(name):
    arguments, options = LAYERS[name]
    if arguments is None:
        arguments = (torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4)).double(),)
    ours, other = both(name.split()[0], arguments, options)
    if name == "GINConv":
        other.nn = copy.deepcopy(other.nn)
    return ours, other


def edge_data(name, edge_index):
    """What a layer takes of each edge: weights, features or nothing."""
    if name.startswith("GCN"):
        return (features(edge_index.shape[1]).abs() + 0.1,)
    return () if name.startswith(("SAGE", "GIN")) else (features(edge_index.shape[1], 3, seed=2),)


@pytest.mark.parametrize("name", LAYERS)
def test_parameters_load_both_ways(name):
    edge_index, n = edges("random")
    x, data = features(n, 6), edge_data(name, edge_index)
    ours, other = of_both(name)
    for source, target in ((other, ours), (ours, other)):
        with torch.no_grad():
            for parameter in source.parameters():
                parameter.add_(torch.linspace(-1, 1, parameter.numel(), dtype=torch.float64).view_as(parameter))
        before = ours(x, edge_index, *data).detach()
        target.load_state_dict(source.state_dict())
        agree(ours, other, x, edge_index, *data)
        if target is ours:
            assert not torch.allclose(ours(x, edge_index, *data), before)


@pytest.mark.parametrize("name", LAYERS)
def test_tensors_that_are_not_contiguous(name):
    edge_index, n = edges("multi")
    ours, other = of_both(name)
    data = tuple(torch.stack((t, t), -1)[..., 0] for t in edge_data(name, edge_index))
    agree(ours, other, features(6, n).t(), edge_index.t().contiguous().t(), *data)
    agree(ours, other, features(n, 12)[:, ::2], torch.stack((edge_index, edge_index), 2)[..., 1], *data)


@pytest.mark.parametrize("name", LAYERS)
def test_no_vertices(name):
    none = torch.empty((2, 0), dtype=torch.int64)
    agree(*of_both(name), features(0, 6), none, *edge_data(name, none))


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_feature_of_edges(name, kind):
    """One-dimensional edge features; PyTorch Geometric's TransformerConv needs two dimensions."""
    edge_index, n = edges(kind)
    ours, other = both(name, (5, 3), {"heads": 2, "edge_dim": 1})
    one = features(edge_index.shape[1])
    agree(ours, other, features(n, 5), edge_index, one[:, None])
    close(ours(features(n, 5), edge_index, one), ours(features(n, 5), edge_index, one[:, None]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"bias": False}, {"heads": 3, "concat": False, "residual": True}], ids=str)
def test_shared_weights(kind, options):
    edge_index, n = edges(kind)
    agree(*both("GATv2Conv", (5, 3), {"share_weights": True, **options}), features(n, 5), edge_index)


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_dropout_is_for_training(name):
    edge_index, n = edges("hub")
    ours, other = both(name, (5, 3), {"heads": 2, "dropout": 0.6})
    agree(ours.eval(), other.eval(), features(n, 5), edge_index)


@pytest.mark.parametrize("improved", [False, True])
def test_a_cached_adjacency_is_that_of_the_first_edges(improved):
    edge_index, n = edges("multi")
    ours, other = both("GCNConv", (5, 3), {"cached": True, "improved": improved})
    agree(ours, other, features(n, 5), edge_index)
    agree(ours, other, features(n, 5), edge_index[:, :9])


# ---- two sets of vertices -------------------------------------------------------------------------------------------

SIZES = ((12, 7), (7, 12), (9, 9), (1, 5), (5, 1))


def between(kind, sizes):
    """edge_index [2, E] from vertices of one set to those of another; the last of a set of many is isolated."""
    random = torch.Generator().manual_seed(3)
    ends = torch.stack([torch.randint(0, max(size - 1, 1), (60,), generator=random) for size in sizes])
    if kind == "hub":
        ends[1, :30] = 0
        ends[0, 20:50] = 0
    if kind == "multi":
        ends = torch.cat((ends, ends[:, :20]), 1)
    return ends[:, :0] if kind == "empty" else ends


@pytest.mark.covering(1)
@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["empty", "hub", "multi"])
def test_sums_between_two_sets(kind, sizes, flow):
    if flow == "target_to_source" and sizes[0] != sizes[1]:
        return  # PyTorch Geometric takes the number of sources for that of targets
    edge_index = between(kind, sizes)
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    for aggr in ("mean", "sum", "min", "max"):
        for options in ({}, {"normalize": True}, {"project": True}, {"root_weight": False, "bias": False}):
            agree(*both("SAGEConv", ((4, 6), 3), {"aggr": aggr, "flow": flow, **options}), pair, edge_index)
        agree(*both("SAGEConv", ((4, 6), 3), {"aggr": aggr, "flow": flow}), (pair[0], None), edge_index, sizes)
        inner = torch.nn.Linear(4, 3, dtype=torch.float64)
        ours, other = both("GINConv", (inner,), {"aggr": aggr, "flow": flow, "eps": 0.5})
        agree(ours, other, (pair[0], pair[1][:, :4]), edge_index)
        agree(ours, other, (pair[0], None), edge_index, sizes)


@pytest.mark.covering(1)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["empty", "hub", "multi"])
@pytest.mark.parametrize("edge_dim", [None, 4])
def test_attention_between_two_sets(edge_dim, kind, sizes):
    edge_index = between(kind, sizes)
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    data = () if edge_dim is None else (features(edge_index.shape[1], edge_dim, seed=4),)
    common = {"heads": 2, "edge_dim": edge_dim}
    for options in ({}, {"concat": False, "residual": True}):
        for name in ("GATConv", "GATv2Conv"):
            for loops in (False, True):
                ours, other = both(name, ((4, 6), 3), {"add_self_loops": loops, "fill_value": 0.5, **common, **options})
                found, expected = agree(ours, other, pair, edge_index, *data, return_attention_weights=True)
                assert torch.equal(found[0], expected[0])
                close(found[1], expected[1])
        size = (None,) * (1 - len(data)) + (sizes,)
        ours, other = both("GATConv", ((4, 6), 3), {"add_self_loops": False, **common})
        agree(ours, other, (pair[0], None), edge_index, *data, *size)
    for options in ({"beta": True}, {"concat": False, "root_weight": False}):
        ours, other = both("TransformerConv", ((4, 6), 3), {**common, **options})
        found, expected = agree(ours, other, pair, edge_index, *data, return_attention_weights=True)
        close(found[1], expected[1])


# ---- many vertices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAYERS)
def test_many_vertices(name):
    """Rows long and short, and columns for whole vectors: a hub that half of the vertices reach, and a chain."""
    n, columns = 2000, 32
    random, ids = torch.Generator().manual_seed(4), torch.arange(n)
    ends = [torch.stack((ids[:-1], ids[1:])), torch.stack((ids[::2], ids[::2] * 0 + 7))]
    edge_index = torch.cat([*ends, torch.randint(0, n, (2, 4000), generator=random)], 1)
    first, options = LAYERS[name]
    inner = torch.nn.Linear(columns, columns, dtype=torch.float64)
    options = {**options, "heads": 2} if "heads" in options else options
    with thread_count(2):
        ours, other = both(name.split()[0], (inner,) if first is None else (columns, columns), options)
        agree(ours, other, features(n, columns), edge_index, *edge_data(name, edge_index))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_gat_does_not_look_at_features_of_no_edges(dtype):
    ours, other = both("GATConv", (6, 2), {"edge_dim": 3, "add_self_loops": False, "residual": True})
    agree(ours, other, features(5, 6), torch.empty((2, 0), dtype=torch.int64), torch.empty((0, 3), dtype=dtype))
