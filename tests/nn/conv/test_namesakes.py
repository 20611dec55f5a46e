"""Layers of tg.nn as subclasses of those of PyTorch Geometric: they pass for these, and behave as these do."""

import copy
import os
import pickle

import interpreters
import pytest
import torch
from nn_samples import CONVS, agree, built, close, differentiated, edges, features

import tgraph as tg

pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric's layers are what ours derive from")
from torch_geometric import nn as theirs  # noqa: E402
from torch_geometric.utils import get_embeddings, get_num_hops  # noqa: E402


def both(name, ways=("plain", "accelerated"), **options):
    """The layer of tg.nn and PyTorch Geometric's with the same parameters, for each way to get the former."""
    arguments = (torch.nn.Linear(6, 6, dtype=torch.float64),) if name == "GINConv" else (6, 6)
    for way in ways:
        other = built(theirs, name, arguments, options)
        if way == "plain":
            ours = built(tg.nn, name, arguments, options)
            ours.load_state_dict(other.state_dict())
        else:
            ours = copy.deepcopy(other)
            assert tg.nn.accelerate(ours).replaced
        yield ours, other


class Net(torch.nn.Module):
    def __init__(self, library, name):
        super().__init__()
        arguments = [(torch.nn.Linear(6, 6),) if name == "GINConv" else (6, 6) for _ in range(2)]
        options = {"add_self_loops": False} if name in ("GATConv", "GATv2Conv") else {}
        self.first, self.second = (getattr(library, name)(*each, **options) for each in arguments)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


@pytest.mark.parametrize("name", CONVS)
def test_they_are_of_their_class(name):
    layer = built(tg.nn, name, (torch.nn.Linear(2, 2),) if name == "GINConv" else (2, 2), {})
    assert isinstance(layer, (getattr(theirs, name))) and isinstance(layer, theirs.MessagePassing)
    assert type(layer) is getattr(tg.nn, name)
    assert type(layer).__module__.startswith("tgraph.nn.")
    for twin in (copy.deepcopy(layer), copy.copy(layer), pickle.loads(pickle.dumps(layer))):
        assert type(twin) is type(layer) and list(twin.state_dict()) == list(layer.state_dict())


class Derived(tg.nn.GCNConv):
    """At module level, where pickle finds it."""


def test_derived_classes_are_pickled():
    edge_index, n = edges("hub")
    layer = Derived(6, 3).double()
    close(pickle.loads(pickle.dumps(layer))(features(n, 6), edge_index), layer(features(n, 6), edge_index))


@pytest.mark.parametrize("name", CONVS)
def test_hops_and_embeddings(name):
    model, (edge_index, n) = Net(tg.nn, name), edges("hub")
    assert get_num_hops(model) == 2
    assert [each.shape for each in get_embeddings(model, features(n, 6).float(), edge_index)] == [(n, 6), (n, 6)]


@pytest.mark.parametrize("name", CONVS)
def test_explanations(name):
    from torch_geometric.explain import Explainer, GNNExplainer

    edge_index, n = edges("multi")
    ours, other = Net(tg.nn, name), Net(theirs, name)
    ours.load_state_dict(other.state_dict())
    settings = {"mode": "regression", "task_level": "node", "return_type": "raw"}

    def explained(model):
        torch.manual_seed(0)
        explainer = Explainer(
            model, GNNExplainer(epochs=3), explanation_type="model", edge_mask_type="object", model_config=settings
        )
        return explainer(features(n, 6).float(), edge_index).edge_mask

    close(explained(ours), explained(other), 1e-4)
    with torch.no_grad():
        close(ours(features(n, 6).float(), edge_index), other(features(n, 6).float(), edge_index), 1e-4)


def ones_of_each_target(inputs, index, ptr=None, dim_size=None):
    return inputs.new_ones((dim_size, *inputs.shape[1:]))


STEPS = {
    "message": lambda x_j, *_, **__: 2 * x_j,
    "aggregate": ones_of_each_target,
    "update": lambda inputs: inputs + 1,
    "propagate": lambda edge_index, size=None, **kwargs: kwargs["x"] + 1,
    "aggr_module": theirs.aggr.MaxAggregation(),
}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_replaced_is_taken(step, after):
    edge_index, n = edges("hub")
    (ours, other), (accelerated, _) = both("GCNConv")
    for each in (ours, other):
        setattr(each, step, STEPS[step])
    expected = other(features(n, 6), edge_index)
    close(ours(features(n, 6), edge_index), expected)
    if after:
        setattr(accelerated, step, STEPS[step])
        close(accelerated(features(n, 6), edge_index), expected)
    else:
        before = type(other)
        done = tg.nn.accelerate(other)
        assert not done.replaced and step in done.kept[""]
        assert type(other) is before
        close(other(features(n, 6), edge_index), expected)


def test_a_step_of_the_class_that_is_replaced_is_left(monkeypatch):
    layer = theirs.GCNConv(6, 3)
    monkeypatch.setattr(theirs.GCNConv, "message", lambda self, x_j, edge_weight: -x_j)
    done = tg.nn.accelerate(layer)
    assert not done.replaced and "step" in done.kept[""]


LINEAR = {
    "GCNConv": ["lin"],
    "SAGEConv": ["lin_l", "lin_r"],
    "GINConv": ["nn"],
    "GraphConv": ["lin_rel", "lin_root"],
    "SGConv": ["lin"],
    "GATConv": ["lin", "lin_edge"],
    "GATv2Conv": ["lin_l", "lin_r", "lin_edge"],
    "TransformerConv": ["lin_key", "lin_query", "lin_value", "lin_skip", "lin_edge"],
}


def noted(layer, names, x, *given):
    """What hooks on the linear maps of a layer see of what goes through them, and of its gradients."""
    seen = {}

    def note(key, *tensors):
        seen.setdefault(key, []).extend(each.detach() for each in tensors if each is not None)

    handles = []
    for name in names:
        lin = layer.get_submodule(name)
        handles += [
            lin.register_forward_pre_hook(lambda _, args, name=name: note((name, "in"), *args)),
            lin.register_forward_hook(lambda _, args, out, name=name: note((name, "out"), out)),
            lin.register_full_backward_pre_hook(lambda _, out, name=name: note((name, "pre"), *out)),
            lin.register_full_backward_hook(lambda _, into, out, name=name: note((name, "gradients"), *into, *out)),
        ]
    differentiated(layer, x, *given)
    for handle in handles:
        handle.remove()
    return seen


@pytest.mark.parametrize("name", LINEAR)
def test_hooks_on_linear_maps_see_the_same(name):
    edge_index, n = edges("multi")
    attends = "lin_edge" in LINEAR[name]
    given = (edge_index, features(edge_index.shape[1], 4)) if attends else (edge_index,)
    for ours, other in both(name, **({"edge_dim": 4} if attends else {})):
        found, expected = (noted(layer, LINEAR[name], features(n, 6), *given) for layer in (ours, other))
        assert found.keys() == expected.keys()
        for key, tensors in expected.items():
            assert len(found[key]) == len(tensors), key
            for mine, their in zip(found[key], tensors, strict=True):
                close(mine, their)


def test_backward_hooks_alone_see_the_same():
    edge_index, n = edges("multi")
    for name, lin in (("GCNConv", "lin"), ("GATConv", "lin"), ("SAGEConv", "lin_l")):
        for ours, other in both(name):
            gradients = []
            for layer in (ours, other):
                hook = layer.get_submodule(lin).register_full_backward_hook
                hook(lambda _, into, out, gradients=gradients: gradients.append((*into, *out)))
                differentiated(layer, features(n, 6), edge_index)
            for mine, their in zip(*gradients, strict=True):
                close(mine, their)


class Linear(torch.nn.Linear):
    """A linear map with more to it, as adapters have, of the same name."""

    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GATConv"])
def test_other_linear_maps_are_called(name):
    edge_index, n = edges("hub")
    x, given = features(n, 6), (edge_index,)
    for ours, other in both(name):
        for layer in (ours, other):
            for place in LINEAR[name][:1]:
                lin = Linear(6, 6, bias=False, dtype=torch.float64)
                with torch.no_grad():
                    lin.weight.copy_(layer.get_submodule(place).weight)
                layer.set_submodule(place, lin)
        agree(ours, other, x, *given)


@pytest.mark.covering(2)
@pytest.mark.parametrize("when", ["forward_pre", "forward"])
@pytest.mark.parametrize("step", ["propagate", "message", "aggregate"])
@pytest.mark.parametrize("name", CONVS)
def test_hooks_on_messages(name, step, when):
    edge_index, n = edges("hub")
    for ours, other in both(name):
        seen = []
        for layer in (ours, other):
            hook = getattr(layer, f"register_{step}_{when}_hook")
            hook(lambda layer, inputs, *out, seen=seen: seen.append(layer))
        agree(ours, other, features(n, 6), edge_index)
        assert set(seen) == {ours, other}


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GINConv"])  # as PyTorch Geometric's own are scripted
def test_torchscript(name):
    edge_index, n = edges("hub")
    for ours, other in both(name):
        expected = other(features(n, 6), edge_index)
        close(torch.jit.script(ours)(features(n, 6), edge_index), expected)
        close(torch.jit.script(torch.nn.ModuleList([ours]))[0](features(n, 6), edge_index), expected)
        assert type(ours).__module__.startswith("tgraph.nn.")
        traced = torch.jit.trace(ours, (features(n, 6), edge_index), check_trace=False)
        fewer = edge_index[:, :30]
        close(traced(features(n, 6), fewer), other(features(n, 6), fewer))


IN_AN_INTERPRETER = """
import sys, tgraph as tg
assert "torch_geometric" not in sys.modules and set(tg.nn.__all__) <= set(dir(tg.nn))
tg.nn.GCNConv
assert "torch_geometric" in sys.modules
import torch
from torch_geometric.nn import GCNConv
edge_index, x = torch.randint(9, (2, 40)), torch.rand(9, 4)
for parts in (1, 2):
    layer = tg.nn.GCNConv(4, 4)
    layer.decomposed_layers = parts
    torch.testing.assert_close(torch.jit.script(layer)(x, edge_index), layer(x, edge_index))
    assert GCNConv._orig_propagate.__module__.endswith("message_passing"), GCNConv._orig_propagate
"""


@pytest.mark.thorough
def test_pytorch_geometric_is_imported_with_the_first_layer_which_is_scripted_before_any_of_its_own_is_made():
    """Its layers generate code for their class when the first is made, or here the first is scripted. An empty
    TGRAPH_PYG is as if it were not set."""
    done = interpreters.run(IN_AN_INTERPRETER, env=os.environ | {"TGRAPH_PYG": ""})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sizes", [(30, 20), (20, 30), (20, 20)])
@pytest.mark.parametrize("name", ["SAGEConv", "GATConv", "GATv2Conv", "TransformerConv"])
def test_a_pair_from_target_to_source(name, sizes):
    """PyTorch Geometric counts results as the first of the pair, and refuses fewer than there are targets."""
    random = torch.Generator().manual_seed(3)
    edge_index = torch.stack([torch.randint(0, size, (60,), generator=random) for size in sizes[::-1]])
    x = tuple(features(size, 6, seed=size + 1) for size in sizes)
    options = {"root_weight": False} if name in ("SAGEConv", "TransformerConv") else {}
    for ours, other in both(name, flow="target_to_source", **options):
        if name != "TransformerConv" and sizes[0] < sizes[1]:
            assert ours(x, edge_index).shape == (sizes[1], 6)
        else:
            agree(ours, other, x, edge_index)


def test_pytorch_geometric_is_left_aside_where_it_is_not_wanted():
    code = "import sys, torch, tgraph; layer = tgraph.nn.SAGEConv(4, 3); "
    code += "print(layer(torch.rand(2, 4), torch.tensor([[0], [1]])).shape, 'torch_geometric' in sys.modules)"
    found = interpreters.run(code, env=os.environ | {"TGRAPH_PYG": "0"}).stdout
    assert found == "torch.Size([2, 3]) False\n"


def test_layers_do_without_pytorch_geometric():
    code = """if True:
    import sys, pickle, torch
    sys.modules["torch_geometric"] = None
    import tgraph as tg
    edge_index = torch.randint(0, 9, (2, 40))
    for name in ("GCNConv", "SAGEConv", "GINConv", "GATConv", "GATv2Conv", "TransformerConv", "GraphConv", "SGConv"):
        layer = getattr(tg.nn, name)(*(torch.nn.Linear(4, 3),) if name == "GINConv" else (4, 3))
        assert layer.__class__.__mro__[-3:] == (tg.nn.MessagePassing, torch.nn.Module, object)
        out = pickle.loads(pickle.dumps(layer))(torch.rand(9, 4), edge_index)
        assert out.shape == (9, 3)
    try:
        torch.jit.script(tg.nn.GCNConv(4, 3))
    except tg.errors.ArgumentError as refusal:
        print(refusal)
    try:
        torch.jit.trace(tg.nn.GCNConv(4, 3), (torch.rand(9, 4), edge_index))
    except tg.errors.ArgumentError as refusal:
        print(refusal)
    assert str(tg.nn.accelerate(torch.nn.Linear(1, 1))) == "no layers of PyTorch Geometric"
    """
    done = interpreters.run(code)
    assert done.returncode == 0, done.stderr
    assert "torch.jit.script" in done.stdout and "torch.jit.trace" in done.stdout
