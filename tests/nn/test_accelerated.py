"""Models of PyTorch Geometric on our layers, and back."""

import copy
import pickle

import pytest
import torch
from nn_samples import agree, close, edges, features

import tgraph as tg

pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is what is accelerated")
from torch_geometric import nn as theirs  # noqa: E402

MODELS = {
    "GCN": lambda: theirs.GCN(6, 8, 2, 3),
    "GraphSAGE": lambda: theirs.GraphSAGE(6, 8, 2, 3, aggr="max"),
    "GIN": lambda: theirs.GIN(6, 8, 2, 3),
    "GAT": lambda: theirs.GAT(6, 8, 2, 3, heads=2),
    "GATv2": lambda: theirs.GAT(6, 8, 2, 3, v2=True),
    "Transformer": lambda: theirs.TransformerConv(6, 4, heads=2),
    "Graph": lambda: theirs.GraphConv(6, 4),
    "SG": lambda: theirs.SGConv(6, 4, K=2),
    "Edge": lambda: theirs.EdgeConv(torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.ReLU())),
    "ResGated": lambda: theirs.ResGatedGraphConv(6, 4),
    "APPNP": lambda: theirs.APPNP(3, 0.2),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_the_same(name):
    edge_index, n = edges("hub")
    torch.manual_seed(0)
    model = MODELS[name]().double()
    before, parameters, printed = copy.deepcopy(model), [id(p) for p in model.parameters()], repr(model)
    done = tg.nn.accelerate(model)
    assert done.replaced and not done.kept
    assert [id(p) for p in model.parameters()] == parameters
    assert repr(model) == printed
    assert isinstance(model.get_submodule(next(iter(done.replaced))), theirs.MessagePassing)
    agree(model, before, features(n, 6), edge_index)
    expected = before(features(n, 6), edge_index)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        close(twin(features(n, 6), edge_index), expected)
    assert not tg.nn.accelerate(model).replaced
    assert tg.nn.restore(model) == list(done.replaced)
    assert type(model) is type(before)
    assert torch.equal(model(features(n, 6), edge_index), expected)


def test_what_stays_is_listed_with_its_reason():
    class Own(theirs.GCNConv):
        pass

    model = torch.nn.ModuleList(
        [theirs.LEConv(2, 2), theirs.SAGEConv(2, 2, aggr="softmax"), Own(2, 2), theirs.GCNConv(2, 2)]
    )
    done = tg.nn.accelerate(model)
    assert done.replaced == {"3": "GCNConv"} and done.lazy == {"0": "LEConv", "2": "Own"}
    assert done.kept["1"].startswith("aggr='softmax' is not one of")
    assert "3: GCNConv, replaced" in str(done) and "2: Own, with lazy messages" in str(done)
    assert str(tg.nn.accelerate(torch.nn.Linear(2, 2))) == "no layers of PyTorch Geometric"


def test_a_cached_adjacency_is_dropped():
    edge_index, n = edges("hub")
    model = theirs.GCNConv(6, 2, cached=True).double()
    expected = model(features(n, 6), edge_index)
    tg.nn.accelerate(model)
    close(model(features(n, 6), edge_index), expected)
    tg.nn.restore(model)
    close(model(features(n, 6), edge_index), expected)


def test_hooks_on_messages_are_called():
    edge_index, n = edges("hub")
    model = theirs.GCNConv(6, 2).double()
    tg.nn.accelerate(model)
    seen = []
    handle = model.register_message_forward_hook(lambda layer, inputs, out: seen.append(out.shape))
    hooked = model(features(n, 6), edge_index)
    assert seen
    handle.remove()
    close(model(features(n, 6), edge_index), hooked)
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_weights_are_explained(name):
    from torch_geometric.explain import AttentionExplainer, Explainer

    edge_index, n = edges("hub")
    model = torch.nn.ModuleList([getattr(theirs, name)(6, 4, heads=2).double()]).eval()
    model.forward = lambda x, edge_index: model[0](x, edge_index)
    settings = {"mode": "regression", "task_level": "node", "return_type": "raw"}

    def explained():
        algorithm, kind = AttentionExplainer(), "model"
        explainer = Explainer(model, algorithm, explanation_type=kind, edge_mask_type="object", model_config=settings)
        return explainer(features(n, 6), edge_index).edge_mask

    expected = explained()
    tg.nn.accelerate(model)
    close(explained(), expected)
    tg.nn.restore(model)
