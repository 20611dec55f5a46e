"""Layers in 16 bits, by autocast or altogether, against themselves in float64 and PyTorch Geometric's dtypes."""

import pytest
import torch
from nn_samples import KINDS, built, edges, features, layers

import tgraph as tg
from tgraph.core.csr import Csr
from tgraph.core.dispatch import PORTABLE, is_available, watched
from tgraph.kernels.operators.aggregation.narrow import sum_narrow

# What rounding the inputs, the parameters and every step to so few bits may change, relative to the largest number.
NARROW = {torch.bfloat16: 0.05, torch.float16: 0.006}


def near(found, expected, tolerance):
    assert found.shape == expected.shape
    if expected.numel():
        wrong = (found.double() - expected.double()).abs().max()
        assert wrong <= tolerance * max(1.0, float(expected.abs().max()))


def numbers(layer, x, edge_index, *data, autocast=None):
    """(result, gradients of x, data and parameters) of the sum of squares of the result."""
    x, *data = (t.clone().requires_grad_() if isinstance(t, torch.Tensor) else t for t in (x, *data))
    layer.zero_grad()
    with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
        result = layer(x, edge_index, *data)
    result.double().square().sum().backward()
    leaves = [t for t in (x, *data, *layer.parameters()) if isinstance(t, torch.Tensor)]
    return result.detach(), [torch.zeros_like(t) if t.grad is None else t.grad.clone() for t in leaves]


def samples(name, n, edge_index):
    """Inputs that 16 bits hold exactly, so that only what is computed of them is rounded; float64."""
    x = features(n, 6).bfloat16().double() / 2
    weight = features(edge_index.shape[1]).abs().bfloat16().double() + 0.5
    return (x, weight.bfloat16().double()) if name == "GCNConv" else (x,)


def rounded(layer, dtype):
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(parameter.to(dtype))
    return layer


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", layers())
@pytest.mark.parametrize("autocast", [True, False])
def test_numbers_of_16_bits(name, dtype, kind, autocast):
    """By autocast, or as the dtype of the parameters."""
    edge_index, n = edges(kind)
    layer, inputs = rounded(layers()[name], dtype), samples(name, n, edge_index)
    expected = numbers(layer, inputs[0], edge_index, *inputs[1:])
    held = torch.float32 if autocast else dtype
    x, *data = (t.to(held) for t in inputs)
    found = numbers(layer.to(held), x, edge_index, *data, autocast=dtype if autocast else None)
    assert autocast or found[0].dtype == dtype
    near(found[0], expected[0], NARROW[dtype])
    for mine, exact in zip(found[1], expected[1], strict=True):
        assert mine.dtype == held
        near(mine, exact, 2 * NARROW[dtype])


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", layers())
def test_autocast_gives_the_dtype_that_pyg_gives(name, dtype):
    theirs = pytest.importorskip("torch_geometric.nn", reason="PyTorch Geometric is what the layers are compared with")
    edge_index, n = edges("hub")
    ours = layers()[name].float()
    kind, heads = name.split()[0], {"heads": 2} if hasattr(ours, "heads") else {}
    arguments = (torch.nn.Linear(6, 4),) if kind == "GINConv" else (6, 4 // heads.get("heads", 1))
    other = built(theirs, kind, arguments, {**heads, **({"aggr": "max"} if "max" in name else {})}).float()
    for x in (features(n, 6).float(), features(n, 6).float().requires_grad_()):
        with torch.autocast("cpu", dtype):
            assert ours(x, edge_index).dtype == other(x, edge_index).dtype


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_autocast_of_edge_features_between_two_sets(name, dtype):
    random = torch.Generator().manual_seed(3)
    edge_index = torch.stack([torch.randint(0, size, (40,), generator=random) for size in (12, 7)])
    options = {"heads": 2, "edge_dim": 3, **({} if name == "TransformerConv" else {"add_self_loops": False})}
    layer = rounded(built(tg.nn, name, ((4, 6), 3), options), dtype)
    pair = [t.bfloat16().double() for t in (features(12, 4), features(7, 6, seed=2), features(40, 3, seed=4))]
    expected = layer(tuple(pair[:2]), edge_index, pair[2]).detach()
    pair = [t.float() for t in pair]
    with torch.autocast("cpu", dtype):
        found, (_, alpha) = layer.float()(tuple(pair[:2]), edge_index, pair[2], return_attention_weights=True)
    near(found, expected, NARROW[dtype])
    near(torch.zeros(7, 2).index_add(0, edge_index[1], alpha.float()), torch.ones(7, 2), NARROW[dtype])


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("aggr", ["mean", "sum", "max"])
@pytest.mark.parametrize("root_weight", [True, False])
def test_stored_features_in_16_bits_are_added_up_in_the_dtype_of_the_parameters(dtype, aggr, root_weight):
    """As if they were in float32 from the beginning, in an edge_index, a block and a graph."""
    graph = tg.generators.rmat(7)
    sample = tg.sampling.NeighborSampler(graph, [5, 4], seed=2).sample(torch.arange(20))
    block = tg.sampling.blocks(sample)[0]
    for columns in (3, 8, 100):
        layer = tg.nn.SAGEConv(columns, 6, aggr=aggr, root_weight=root_weight)
        x = torch.randn(len(block.source), columns).to(dtype)
        pair = x, x[: len(block.destination)]
        edge_index = torch.stack((sample.row, sample.col))
        for given, arcs in ((pair, block.csr), (pair, edge_index), (x, edge_index)):
            wide = given.float() if isinstance(given, torch.Tensor) else tuple(each.float() for each in given)
            found, wanted = [], []
            for kept, features_of in ((found, given), (wanted, wide)):
                layer.zero_grad()
                out = layer(features_of, arcs)
                out.square().sum().backward()
                kept += [out.detach(), *(parameter.grad.clone() for parameter in layer.parameters())]
            assert all(each.dtype == torch.float32 for each in found)
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-3)
    x = torch.randn(graph.num_vertices, 100).to(dtype)
    torch.testing.assert_close(layer(x, graph), layer(x.float(), graph), rtol=1e-4, atol=1e-4)


def test_gradients_of_features_in_16_bits_are_theirs():
    layer, x = tg.nn.SAGEConv(6, 4), torch.randn(9, 6).half().requires_grad_()
    edge_index = torch.randint(9, (2, 40))
    layer(x, edge_index).square().sum().backward()
    wide = x.detach().float().requires_grad_()
    layer(wide, edge_index).square().sum().backward()
    assert x.grad.dtype == torch.float16
    torch.testing.assert_close(x.grad.float(), wide.grad, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", NARROW)
def test_sums_of_stored_features_go_through_the_registry(dtype):
    edge_index, n = edges("hub")
    x = features(n, 16).to(dtype)
    layer = tg.nn.SAGEConv(16, 8)
    with watched() as seen, torch.no_grad():
        layer(x, edge_index)
    (choice,) = seen
    assert not is_available("native") or (choice.operator, choice.backend.name) == ("sum_narrow", "native")
    graph = tg.from_edge_index(edge_index, num_nodes=n)
    arcs = Csr.unchecked(graph.offset, graph.neighbors, None, n)
    for mean in (False, True):
        ours = PORTABLE.operators["sum_narrow"].run(arcs, x, mean)
        near(sum_narrow(arcs, x, mean), ours, 1e-6)
        near(ours, tg.aggregate(graph.transpose(), x.double(), "mean" if mean else "sum"), 1e-6)
