"""Our layers in the ways that users of PyTorch Geometric use theirs."""

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from nn_samples import agree, built, close, edges, features, layers
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode

import tgraph as tg
from tgraph.errors import ArgumentError

pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is what is used")
from torch_geometric import nn as theirs  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.explain import Explainer, GNNExplainer  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

LAYERS = layers()


@pytest.mark.parametrize("name", LAYERS)
def test_batches_of_graphs(name):
    edge_index, n = edges("random")
    alone = Data(x=features(n, 6), edge_index=edge_index)
    layer = copy.deepcopy(LAYERS[name])
    expected = layer(alone.x, alone.edge_index)
    for batch in DataLoader([alone] * 5, batch_size=2):
        out = layer(batch.x, batch.edge_index)
        for one in out.split(n):
            close(one, expected)
        assert theirs.global_mean_pool(out, batch.batch).shape == (batch.num_graphs, out.shape[1])


@pytest.mark.parametrize("name", LAYERS)
def test_sequential_with_jumps(name):
    edge_index, n = edges("hub")
    layer = copy.deepcopy(LAYERS[name])
    steps = [
        (layer, "x, edge_index -> h"),
        (torch.nn.ReLU(), "h -> a"),
        (lambda a, h: [a, h], "a, h -> all"),
        (theirs.JumpingKnowledge("cat"), "all -> x"),
    ]
    h = layer(features(n, 6), edge_index)
    close(theirs.Sequential("x, edge_index", steps)(features(n, 6), edge_index), torch.cat((h.relu(), h), 1))


@pytest.mark.parametrize("make", [theirs.GCN, theirs.GraphSAGE, theirs.GIN, theirs.GAT])
def test_explanations_use_messages(make):
    torch.manual_seed(0)  # of other models the mask may be all 0
    edge_index, n = edges("hub")
    model = make(6, 8, 2, 3)
    tg.nn.accelerate(model)
    model = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    explainer = Explainer(
        model,
        GNNExplainer(epochs=3),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    x = features(n, 6).float()
    assert explainer(x, edge_index, index=3).edge_mask.sum() > 0
    found = model(x, edge_index)
    assert tg.nn.restore(model)
    close(found, model(x, edge_index), 1e-4)


def test_models_that_construct_accelerated_layers():
    class Ours(theirs.models.basic_gnn.BasicGNN):
        supports_edge_weight, supports_edge_attr, supports_norm_batch = False, False, True

        def init_conv(self, in_channels, out_channels, **kwargs):
            return tg.nn.SAGEConv(in_channels, out_channels, **kwargs)

    edge_index, n = edges("random")
    model = Ours(6, 8, 2, 3, norm="batch", jk="max", aggr="max").eval()
    expected = theirs.GraphSAGE(6, 8, 2, 3, norm="batch", jk="max", aggr="max").eval()
    expected.load_state_dict(model.state_dict())
    x = features(n, 6).float()
    close(model(x, edge_index), expected(x, edge_index), 1e-5)


def test_sampled_graphs_are_trimmed_layer_by_layer():
    random = torch.Generator().manual_seed(0)
    near = torch.stack([torch.randint(0, size, (20,), generator=random) for size in (13, 5)])
    far = torch.stack([torch.randint(0, 15, (40,), generator=random) + 5 for _ in range(2)])
    far[1] = 5 + far[1] % 8
    model, sampled = theirs.GraphSAGE(6, 8, 2, 3).double(), {"num_sampled_nodes_per_hop": [5, 8, 7]}
    given = (features(20, 6), torch.cat((near, far), 1))
    expected = model(*given, **sampled, num_sampled_edges_per_hop=[20, 40])
    tg.nn.accelerate(model)
    close(model(*given, **sampled, num_sampled_edges_per_hop=[20, 40]), expected)


def test_pooling_scores_by_layers_of_tgraph():
    edge_index, n = edges("random")
    for make in (tg.nn.GCNConv, tg.nn.SAGEConv, tg.nn.GATConv):
        assert theirs.SAGPooling(6, GNN=make)(features(n, 6).float(), edge_index)[0].shape[1] == 6


@pytest.mark.parametrize("name", LAYERS)
def test_copies_compute_the_same(name):
    edge_index, n = edges("multi")
    graph = tg.Graph.from_edge_index(edge_index, num_nodes=n)
    layer = copy.deepcopy(LAYERS[name])
    if name == "GCNConv":
        layer.cached = True
    for given in (graph, edge_index):
        layer.reset_parameters()
        expected = layer(features(n, 6), given)
        for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            close(twin(features(n, 6), given), expected)


def packaged(model):
    """What torch.package makes of a model that needs the two libraries where it is loaded."""
    file = io.BytesIO()
    with torch.package.PackageExporter(file) as package:
        package.extern(["torch_geometric.**", "tgraph.**"])
        package.save_pickle("models", "model.pkl", model)
    file.seek(0)
    return torch.package.PackageImporter(file).load_pickle("models", "model.pkl")


@pytest.mark.parametrize("name", LAYERS)
def test_layers_in_a_package(name):
    edge_index, n = edges("multi")
    layer = copy.deepcopy(LAYERS[name])
    expected = layer(features(n, 6), edge_index)
    assert type(packaged(layer)) is type(layer)
    close(packaged(layer)(features(n, 6), edge_index), expected)


@pytest.mark.parametrize("make", [theirs.GCN, theirs.GraphSAGE, theirs.GAT])
def test_accelerated_models_in_a_package(make):
    edge_index, n = edges("multi")
    model = make(6, 8, 2, 3).double()
    tg.nn.accelerate(model)
    expected, twin = model(features(n, 6), edge_index), packaged(model)
    close(twin(features(n, 6), edge_index), expected)
    assert tg.nn.restore(twin) == ["convs.0", "convs.1"]
    close(twin(features(n, 6), edge_index), expected)


@pytest.mark.parametrize("name", LAYERS)
def test_threads_share_a_layer_and_its_edges(name):
    layer, n = copy.deepcopy(LAYERS[name]), 15
    several = [torch.randint(0, n, (2, 60), generator=torch.Generator().manual_seed(seed)) for seed in range(4)]
    expected = [layer(features(n, 6), edge_index.clone()) for edge_index in several]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: layer(features(n, 6), several[number % 4]), range(32)))
    for number, result in enumerate(found):
        assert torch.equal(result, expected[number % 4])


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "SAGEConv mean", "GATConv", "GATv2Conv", "TransformerConv"])
@pytest.mark.parametrize("sparse", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr])
def test_sparse_features(name, sparse):
    edge_index, n = edges("random")
    layer = built(tg.nn, name.split()[0], (6, 4), {"aggr": "sum"} if name == "SAGEConv" else {})
    x = features(n, 6) * (features(n, 6) > 0)
    expected = layer(x, edge_index)
    found = layer(sparse(x), edge_index)
    close(found, expected)
    weight = next(parameter for parameter in layer.parameters() if parameter.dim() == 2)
    close(*(torch.autograd.grad(out.square().sum(), weight)[0] for out in (found, expected)))


def test_sparse_features_that_are_sent_as_they_are():
    edge_index, n = edges("random")
    for layer in (tg.nn.SAGEConv(6, 4, aggr="max"), tg.nn.GINConv(torch.nn.Linear(6, 4))):
        with pytest.raises(ArgumentError, match=r"x: .* use x.to_dense\(\)"):
            layer(features(n, 6).float().to_sparse(), edge_index)


def test_classes_that_change_messages_are_refused():
    for name in ("message", "aggregate", "update"):
        with pytest.raises(ArgumentError, match=f"Own: defines {name}, never called by the layers of tgraph.nn"):
            type("Own", (tg.nn.GCNConv,), {name: lambda self, x_j: 2 * x_j})

    class Doubled(tg.nn.GCNConv):
        def forward(self, x, edge_index):
            return 2 * super().forward(x, edge_index)

    edge_index, n = edges("random")
    layer = Doubled(6, 4).double()
    close(layer(features(n, 6), edge_index), 2 * tg.nn.GCNConv.forward(layer, features(n, 6), edge_index))


def test_tensors_without_memory_are_refused():
    with FakeTensorMode() as mode:
        edge_index, x = mode.from_tensor(edges("random")[0]), torch.empty(15, 6)
        with pytest.raises((DataDependentOutputException, DynamicOutputShapeException)):
            tg.nn.SAGEConv(6, 4)(x, edge_index)


def test_edges_of_inference_serve_training():
    layer = tg.nn.GATConv(6, 4).double()
    with torch.inference_mode():
        edge_index, n = edges("random")[0].clone(), 15
        layer(features(n, 6), edge_index)
    twin = theirs.GATConv(6, 4).double()
    twin.load_state_dict(layer.state_dict())
    agree(layer, twin, features(n, 6), edge_index.clone(), given=edge_index)


def test_a_cached_layer_keeps_its_first_adjacency():
    """Where another layer has left that adjacency with the edge_index, too."""
    first, second = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([[0, 0, 0], [0, 1, 2]])
    x = torch.rand(3, 2)
    tg.nn.GCNConv(2, 2)(x, first)
    layer = tg.nn.GCNConv(2, 2, cached=True)
    assert torch.equal(layer(x, first), layer(x, second))


def test_improved_layers_share_no_weights_with_others():
    edge_index, x = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.rand(3, 2)
    layer, improved = tg.nn.GCNConv(2, 2), tg.nn.GCNConv(2, 2, improved=True)
    improved.load_state_dict(layer.state_dict())
    layer(x, edge_index)
    assert torch.equal(improved(x, edge_index), improved(x, edge_index.clone()))
