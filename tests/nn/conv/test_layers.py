"""The layers by their formulas, on dense matrices; their derivatives; and under torch's own machinery."""

import pytest
import torch
import torch.nn.functional as F
from nn_samples import KINDS, agree, built, close, differentiated, edges, features, layers
from strategies import refused
from torch.utils.checkpoint import checkpoint

import tgraph as tg
from tgraph import nn
from tgraph.errors import ArgumentError

SUMS = ("GCNConv", "SAGEConv", "GINConv")


def adjacency_matrix(edge_index, n, weight=None):
    """A[i, j], the weights of the edges j -> i."""
    weight = torch.ones(edge_index.shape[1], dtype=torch.float64) if weight is None else weight
    return torch.zeros(n, n, dtype=torch.float64).index_put((edge_index[1], edge_index[0]), weight, accumulate=True)


@pytest.mark.parametrize("kind", KINDS)
def test_graph_convolution_is_its_formula(kind):
    edge_index, n = edges(kind)
    x, weight = features(n, 6), features(edge_index.shape[1]).abs() + 0.1
    keep = edge_index[0] != edge_index[1]
    layer = built(nn, "GCNConv", (6, 3), {})
    matrix = adjacency_matrix(edge_index[:, keep], n, weight[keep])
    loops = torch.ones(n, dtype=torch.float64)
    for vertex, own in zip(edge_index[0, ~keep].tolist(), weight[~keep].tolist(), strict=True):
        loops[vertex] = own
    matrix = matrix + torch.diag(loops)
    scale = matrix.sum(1).rsqrt()
    close(layer(x, edge_index, weight), scale[:, None] * matrix * scale @ x @ layer.lin.weight.t() + layer.bias)


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_its_formula(kind):
    edge_index, n = edges(kind)
    x = features(n, 5)
    matrix = adjacency_matrix(edge_index[:, edge_index[0] != edge_index[1]], n) + torch.eye(n, dtype=torch.float64)
    layer = built(nn, "GATConv", (5, 3), {})
    value = layer.lin(x)
    scores = (value @ layer.att_src[0, 0]) + (value @ layer.att_dst[0, 0])[:, None]
    scores = F.leaky_relu(scores, 0.2) + matrix.log()
    close(layer(x, edge_index), scores.softmax(1) @ value + layer.bias)
    layer = built(nn, "TransformerConv", (5, 3), {})
    if int(adjacency_matrix(edge_index, n).sum(1).min()):
        scores = layer.lin_query(x) @ layer.lin_key(x).t() / 3**0.5 + adjacency_matrix(edge_index, n).log()
        close(layer(x, edge_index), scores.softmax(1) @ layer.lin_value(x) + layer.lin_skip(x))


@pytest.mark.parametrize("aggr", ["mean", "sum", "min", "max"])
def test_vertices_without_neighbours_receive_nothing(aggr):
    edge_index = torch.tensor([[1], [0]])
    layer = built(nn, "SAGEConv", (2, 3), {"aggr": aggr, "root_weight": False, "bias": False})
    out = layer(features(3, 2), edge_index)
    assert out[0].abs().min() > 0
    assert not out[1:].any()


# ---- derivatives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", layers())
def test_gradients_are_those_of_finite_differences(name):
    edge_index, n = edges("loops")
    layer, x = layers()[name], features(n, 6).requires_grad_()
    torch.autograd.gradcheck(lambda x: layer(x, edge_index), (x,))
    if name == "GCNConv":
        weight = (features(edge_index.shape[1]).abs() + 0.2).requires_grad_()
        torch.autograd.gradcheck(lambda x, weight: layer(x, edge_index, weight), (x, weight))


@pytest.mark.parametrize("name", SUMS)
def test_second_derivatives_of_sums(name):
    edge_index, n = edges("loops")
    layer, x = layers()[name], features(n, 6).requires_grad_()
    torch.autograd.gradgradcheck(lambda x: layer(x, edge_index).square(), (x,))


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["empty", "one", "multi"])
@pytest.mark.parametrize("name", SUMS)
def test_second_derivatives_in_all_that_a_sum_takes(name, kind):
    """In x, the weights of the edges and the parameters."""
    edge_index, n = edges(kind)
    edge_index = edge_index[:, :12]
    layer, x = layers()[name], features(n, 6).requires_grad_()
    weight = [(features(edge_index.shape[1]).abs() + 0.2).requires_grad_()] if name == "GCNConv" else []
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def square(*given):
        state, inputs = dict(zip(names, given, strict=False)), given[len(names) :]
        return torch.func.functional_call(layer, state, (inputs[0], edge_index, *inputs[1:])).square().sum(1)

    torch.autograd.gradgradcheck(square, (*parameters, x, *weight))


def test_second_derivatives_between_two_sets():
    edge_index = torch.tensor([[0, 1, 4, 4, 2], [2, 0, 0, 0, 1]])
    pair = features(5, 3).requires_grad_(), features(4, 2, seed=2).requires_grad_()
    for aggr in ("sum", "mean"):
        layer = built(nn, "SAGEConv", ((3, 2), 2), {"aggr": aggr})
        torch.autograd.gradgradcheck(lambda *x, layer=layer: layer(x, edge_index).square(), pair)


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_derivatives_of_attention_between_two_sets(name):
    edge_index = torch.tensor([[0, 1, 4, 4, 2], [2, 0, 0, 0, 1]])
    pair = features(5, 3).requires_grad_(), features(4, 2, seed=2).requires_grad_()
    options = {} if name == "TransformerConv" else {"add_self_loops": False}
    layer = built(nn, name, ((3, 2), 2), {"heads": 2, "edge_dim": 2, **options})
    edge_attr = features(5, 2, seed=3).requires_grad_()
    torch.autograd.gradcheck(lambda *x: layer(x[:2], edge_index, x[2]), (*pair, edge_attr))
    torch.autograd.gradgradcheck(lambda *x: layer(x[:2], edge_index, x[2]), (*pair, edge_attr))


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_edge_features_get_gradients(name):
    edge_index, n = edges("loops")
    layer = built(nn, name, (6, 2), {"heads": 2, "edge_dim": 3})
    x, edge_attr = features(n, 6), features(edge_index.shape[1], 3).requires_grad_()
    torch.autograd.gradcheck(lambda edge_attr: layer(x, edge_index, edge_attr), (edge_attr,))


# ---- torch's machinery ----------------------------------------------------------------------------------------------


# One for each way of aggregation: to compile takes seconds.
COMPILED = ("SAGEConv", "GATv2Conv")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in COMPILED else pytest.mark.thorough) for each in layers()]
)
def test_compiles_in_one_graph(name):
    edge_index, n = edges("hub")
    graph = tg.Graph.from_edges(*edge_index, num_vertices=n)
    torch._dynamo.reset()
    layer, x = layers()[name], features(n, 6)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for given in (graph, edge_index):
        agree(compiled, layer, x, given)


@pytest.mark.parametrize("name", layers())
def test_autocast(name):
    edge_index, n = edges("hub")
    layer, x = layers()[name].float(), features(n, 6).float().requires_grad_()
    expected = layer(x, edge_index)
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(x, edge_index)
    assert torch.allclose(found.float(), expected, rtol=0.05, atol=0.1)
    found.float().sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("name", layers())
def test_checkpointing(name):
    edge_index, n = edges("hub")
    layer, x = layers()[name], features(n, 6)
    once = differentiated(layer, x, edge_index)
    again = x.clone().requires_grad_()
    result = checkpoint(layer, again, edge_index, use_reentrant=False)
    result.backward(features(*result.shape, seed=7))
    close(result.detach(), once[0])
    close(again.grad, once[2][0])


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_checkpointing_leaves_out_the_same_again(name, reentrant):
    edge_index, n = edges("hub")
    layer = built(nn, name, (6, 2), {"heads": 2, "dropout": 0.5, "edge_dim": 3})
    x, edge_attr = features(n, 6), features(edge_index.shape[1], 3)
    found = []
    for run in (layer, lambda *inputs: checkpoint(layer, *inputs, use_reentrant=reentrant)):
        torch.manual_seed(8)
        layer.zero_grad()
        leaves = [t.clone().requires_grad_() for t in (x, edge_attr)]
        result = run(leaves[0], edge_index, leaves[1])
        torch.manual_seed(9)  # the backward pass of a checkpoint draws what the forward pass drew
        result.backward(features(*result.shape, seed=7))
        found.append([result.detach(), *(t.grad for t in leaves), *(p.grad.clone() for p in layer.parameters())])
    for once, again in zip(*found, strict=True):
        close(again, once)


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_dropout_leaves_out_the_given_share(name):
    edge_index = torch.stack((torch.arange(400), torch.zeros(400, dtype=torch.int64)))
    layer = built(nn, name, (6, 2), {"dropout": 0.5})
    x = features(400, 6)
    torch.manual_seed(3)
    first = layer(x, edge_index)
    torch.manual_seed(3)
    assert torch.equal(layer(x, edge_index), first)
    assert not torch.equal(layer(x, edge_index), first)
    if name != "TransformerConv":  # which returns alpha before dropout
        out, (_, alpha) = layer(x, edge_index, return_attention_weights=True)
        assert 100 < int((alpha[:400] == 0).sum()) < 300
        value = (layer.lin if name == "GATConv" else layer.lin_l)(x)
        into = torch.cat((torch.arange(1, 400), torch.zeros(1, dtype=torch.int64)))
        close(out[0], (alpha[:400, 0] @ value[into])[None].squeeze(0) + layer.bias)
    evaluated = layer.eval()(x, edge_index)
    assert torch.equal(layer(x, edge_index), evaluated)


def test_inference_mode_and_no_grad():
    edge_index, n = edges("hub")
    x = features(n, 6)
    for layer in layers().values():
        with torch.inference_mode():
            inside = layer(x.clone(), edge_index.clone())
            again = layer(x, edge_index)
        with torch.no_grad():
            close(layer(x, edge_index), again)
        found = differentiated(layer, x, edge_index)[0]  # what was kept then serves a training now
        close(found, again.clone())
        close(inside.clone(), found)


def test_cached_keeps_the_first_edges():
    edge_index, n = edges("hub")
    layer, x = built(nn, "GCNConv", (6, 3), {"cached": True}), features(n, 6)
    first = layer(x, edge_index)
    assert torch.equal(layer(x, edge_index[:, :3]), first)
    layer.reset_parameters()
    assert not torch.allclose(layer(x, edge_index[:, :3]), layer(x, edge_index[:, :3]) * 0 + first)


# ---- what does not fit ----------------------------------------------------------------------------------------------


def test_errors_name_the_argument():
    edge_index, n = edges("random")
    x = features(n, 6)
    every = layers()
    with pytest.raises(ArgumentError, match="edge_index: the source 15 of edge 2 is not among the 15 vertices"):
        every["SAGEConv"](x, torch.tensor([[0, 1, 15], [1, 2, 3]]))
    refused("edge_index: the source -1 of edge 0", every["GCNConv"], x, torch.tensor([[-1], [-1]]))
    refused(r"edge_index: expected \[2, E\]", every["GINConv"], x, edge_index.t())
    refused("edge_index: expected integers", every["GATConv"], x, edge_index.float())
    refused("edge_index: expected an integer tensor", every["GATConv"], x, "edges")
    refused("x: GCNConv takes one tensor", every["GCNConv"], (x, x), edge_index)
    refused("edge_weight: expected", every["GCNConv"], x, edge_index, torch.ones(3))
    refused("edge_attr: expected", lambda: built(nn, "GATConv", (6, 2), {"edge_dim": 1})(x, edge_index, torch.ones(3)))
    refused("has no edge_dim", every["GATv2Conv"], x, edge_index, features(edge_index.shape[1], 2))
    refused("edge_attr and edge_dim", lambda: built(nn, "TransformerConv", (6, 2), {"edge_dim": 1})(x, edge_index))
    refused("size: 3 at position 1", every["SAGEConv"], (x, x), edge_index, (n, 3))
    refused("graph of 4 sources does not fit", every["SAGEConv"], x, tg.generators.grid2d(2, 2))
    refused("aggr: 'median'", nn.SAGEConv, 2, 2, aggr="median")
    refused("attention is a weighted sum", nn.GATConv, 2, 2, aggr="max")
    refused("flow", nn.GCNConv, 2, 2, flow="down")
    refused("normalize", nn.GCNConv, 2, 2, add_self_loops=True, normalize=False)
    with pytest.raises(ArgumentError, match="fill_value: 'median'"):
        layer = built(nn, "GATConv", (6, 2), {"edge_dim": 1, "fill_value": "median"})
        layer(x, edge_index, features(edge_index.shape[1]))
    refused("project=True", nn.SAGEConv, -1, 2, project=True)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["random", "hub", "empty"])
@pytest.mark.parametrize("name", [*layers(), "SAGEConv wide max"])
def test_transforms_of_functions(name, kind):
    """torch.func has no rules for our operators: layers take torch's own there, rather than drop a gradient."""
    edge_index, n = edges(kind)
    wide = name == "SAGEConv wide max"
    layer = built(nn, "SAGEConv", (20, 4), {"aggr": "max"}) if wide else layers()[name]
    x, tangent = features(n, 20 if wide else 6), features(n, 20 if wide else 6, seed=3)
    leaf, parameters = x.clone().requires_grad_(), dict(layer.named_parameters())

    def loss(x, parameters):
        return torch.func.functional_call(layer, parameters, (x, edge_index)).square().sum()

    expected = torch.autograd.grad(loss(leaf, parameters), [leaf, *parameters.values()])
    of_x, of_parameters = torch.func.grad(loss, argnums=(0, 1))(x, parameters)
    close(of_x, expected[0])
    for found, wanted in zip(of_parameters.values(), expected[1:], strict=True):
        close(found, wanted)
    along = torch.func.jvp(lambda x: loss(x, parameters), (x,), (tangent,))[1]
    close(along, (expected[0] * tangent).sum())
