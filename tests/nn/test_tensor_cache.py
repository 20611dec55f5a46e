"""What is remembered with tensors: never of weights that have changed unseen, and nothing that travels with them."""

import copy
import gc
import io
import pickle
import weakref

import numpy as np
import pytest
import torch
from nn_samples import built, close, edges, features

import tgraph as tg
from tgraph import nn
from tgraph.nn.edge_index import adjacency_of

OPTIMIZERS = {
    "Adam": lambda weights: torch.optim.Adam(weights, 0.1, fused=True),
    "AdamW": lambda weights: torch.optim.AdamW(weights, 0.1, fused=True),
    "SGD": lambda weights: torch.optim.SGD(weights, 0.1, fused=True),
    "Adagrad": lambda weights: torch.optim.Adagrad(weights, 0.1, fused=True),
}


def subtract_gradient(weight):
    weight.data.sub_(weight.grad, alpha=0.1)


def fill_from_vector(weight):
    torch.nn.utils.vector_to_parameters(weight.detach() + 0.5, [weight])


STEPS = {
    **{name: lambda weight, made=made: made([weight]).step() for name, made in OPTIMIZERS.items()},
    "data": subtract_gradient,
    "clamp": lambda weight: weight.data.clamp_(0.3, 0.6),
    "vector": fill_from_vector,
}


def evaluated(layer, x, edge_index, weight):
    """What a layer gives, and what it gives on tensors that it has not seen."""
    with torch.no_grad():
        return layer(x, edge_index, weight), layer(x, edge_index.clone(), weight.detach().clone())


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("step", STEPS)
def test_weights_that_are_trained_are_taken_as_they_are(step, normalize):
    edge_index, n = edges("hub")
    layer = built(nn, "GCNConv", (6, 3), {"normalize": normalize})
    weight, x = torch.nn.Parameter(features(edge_index.shape[1]).abs()), features(n, 6)
    seen = weight.detach()
    weight.grad = features(edge_index.shape[1], seed=2)
    for taken in (weight, seen) if step != "vector" else (weight,):  # which moves the weights elsewhere
        before = evaluated(layer, x, edge_index, taken)[0]
        for _ in range(2):
            STEPS[step](weight)
            close(*evaluated(layer, x, edge_index, taken))
        assert step == "clamp" or not torch.allclose(before, evaluated(layer, x, edge_index, taken)[0])


def test_weights_without_a_gradient_are_compared():
    edge_index, n = edges("hub")
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    weight = features(edge_index.shape[1]).abs()
    for change in (lambda: weight.data.add_(1), lambda: np.multiply(weight.numpy(), 3, out=weight.numpy())):
        close(*evaluated(layer, x, edge_index, weight))
        change()
        close(*evaluated(layer, x, edge_index, weight))


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:.*sparse CSR")
@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv"])
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_values_of_a_matrix_that_are_trained_are_taken_as_they_are(layout, name):
    edge_index, n = edges("multi")
    layer, x = built(nn, name, (6, 3), {}), features(n, 6)
    adj = torch.sparse_coo_tensor(edge_index.flip(0), features(edge_index.shape[1]).abs(), (n, n)).coalesce()
    adj = (adj if layout == "coo" else adj.to_sparse_csr()).requires_grad_()
    for _ in range(2):
        with torch.no_grad():
            close(layer(x, adj), layer(x, adj.detach().clone()))
            (adj._values() if layout == "coo" else adj.values()).data.add_(0.5)


def test_other_edges_in_the_same_tensor_are_noticed():
    edge_index, n = edges("hub")
    other = edges("random", seed=3)[0]
    layer, x = built(nn, "GATConv", (6, 3), {}), features(n, 6)
    expected = layer(x, edge_index.clone()), layer(x, other.clone())
    close(layer(x, edge_index), expected[0])
    torch.utils.swap_tensors(edge_index, other)
    close(layer(x, edge_index), expected[1])
    close(layer(x, other), expected[0])
    edge_index.data = other.clone()
    close(layer(x, edge_index), expected[0])


def of_each_kind(edge_index, n):
    values = torch.ones(edge_index.shape[1], dtype=torch.float64)
    adj = torch.sparse_coo_tensor(edge_index.flip(0), values, (n, n)).coalesce()
    return {"edges": edge_index.clone(), "coo": adj, "csr": adj.to_sparse_csr()}


def written_unseen(given):
    """Swap the first source for another, or double the first value, without a new version."""
    if given.layout == torch.strided:
        given.data[0, 0] = (given[0, 0] + 1) % 5
    else:
        values = given._values() if given.layout == torch.sparse_coo else given.values()
        values.data[:5] *= 2


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:.*sparse CSR")
@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("kind", ["edges", "coo", "csr"])
def test_forgetting(kind, everything):
    given, n = edges("multi")
    given = of_each_kind(given, n)[kind]
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    before = layer(x, given)
    written_unseen(given)
    tg.nn.forget(*(() if everything else (given,)))
    after = layer(x, given)
    close(after, layer(x, given.clone()))
    assert not torch.allclose(before, after)


def test_a_graph_forgets():
    edge_index, n = edges("hub")
    graph = tg.Graph.from_edges(*edge_index, num_vertices=n)
    built(nn, "GCNConv", (6, 3), {})(features(n, 6), graph)
    assert any(name.startswith("nn ") for name in graph.caches)
    graph.out_degree  # noqa: B018
    for _ in range(2):
        tg.nn.forget(graph)
    assert "out_degree" in graph.caches
    assert not any(name.startswith("nn ") for name in graph.caches)


def test_forgetting_takes_an_edge_index():
    with pytest.raises(tg.errors.ArgumentError, match="edge_index"):
        tg.nn.forget(3)


def test_what_is_remembered_lives_with_the_tensor():
    edge_index, n = edges("hub")
    held = weakref.ref(adjacency_of(edge_index, (n, None)))
    assert held() is adjacency_of(edge_index, (n, None))
    assert not weakref.getweakrefs(edge_index)
    gc.disable()
    try:
        del edge_index
        assert held() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle", "save"])
def test_what_is_remembered_does_not_travel(way):
    edge_index, n = edges("hub")
    adjacency = adjacency_of(edge_index, (n, None))
    if way == "save":
        file = io.BytesIO()
        torch.save(edge_index, file)
        assert file.tell() < 2 * edge_index.nbytes + 2000
        file.seek(0)
        twin = torch.load(file, weights_only=True)
    elif way == "pickle":
        twin = pickle.loads(pickle.dumps(edge_index))
    else:
        twin = getattr(copy, way)(edge_index)
    assert torch.equal(twin, edge_index)
    assert adjacency_of(twin, (n, None)) is not adjacency
    assert adjacency_of(edge_index, (n, None)) is adjacency
    assert adjacency_of(twin, (n, None)) is adjacency_of(twin, (n, None))
