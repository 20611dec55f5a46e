"""Layers that users write, with lazy messages, against PyTorch Geometric's of the same function."""

import copy
import pickle
import random

import pytest
import torch
from nn_samples import KINDS, agree, close, edges, features

import tgraph as tg

pytest.importorskip("torch_geometric", reason="users write their layers on its MessagePassing")
from torch_geometric import nn as theirs

from tgraph.nn.lazy import layer
from tgraph.nn.lazy.reduction import reduced_terms
from tgraph.nn.lazy.tensor import LazyMessages

COLUMNS = 4
AGGRS = ("sum", "mean", "min", "max")
FLOWS = ("source_to_target", "target_to_source")


class Written(theirs.MessagePassing):
    """A layer whose message is a function of the features of both ends, a number and features of each edge."""

    def __init__(self, function, aggr="sum", flow=FLOWS[0]):
        super().__init__(aggr=aggr, flow=flow)
        torch.manual_seed(3)
        self.function = function
        self.lin = torch.nn.Linear(COLUMNS, COLUMNS).double()
        self.other = theirs.Linear(COLUMNS, COLUMNS, bias=False).double()
        self.joint = torch.nn.Linear(2 * COLUMNS, COLUMNS).double()
        self.scale = torch.nn.Parameter(features(COLUMNS, seed=9))

    def forward(self, x, edge_index, w, e):
        return self.propagate(edge_index, x=x, w=w, e=e)

    def message(self, x_i, x_j, w, e):
        return self.function(self, x_i, x_j, w, e)


def both(function, aggr="sum", flow=FLOWS[0]):
    """The layer with lazy messages, and as written."""
    written = Written(function, aggr, flow)
    lazy = copy.deepcopy(written)
    assert tg.nn.accelerate(lazy).lazy == {"": "Written"}
    return lazy, written


def arguments(kind, columns=COLUMNS):
    edge_index, n = edges(kind)
    count = edge_index.shape[1]
    return features(n, columns), edge_index, features(count, seed=5), features(count, columns, seed=6)


# ---- functions that never make messages, in sums and means; those named in BEST also in minima and maxima ------------

FUNCTIONS = {
    "x_j": lambda layer, x_i, x_j, w, e: x_j,
    "w x_j": lambda layer, x_i, x_j, w, e: w.view(-1, 1) * x_j,
    "w[:, None] x_j": lambda layer, x_i, x_j, w, e: x_j * w[:, None],
    "e x_j": lambda layer, x_i, x_j, w, e: e * x_j,
    "lin(x_j)": lambda layer, x_i, x_j, w, e: layer.lin(x_j),
    "w lin(x_j)": lambda layer, x_i, x_j, w, e: w.unsqueeze(-1) * layer.other(x_j),
    "lin(w x_j)": lambda layer, x_i, x_j, w, e: layer.lin(w.unsqueeze(-1) * x_j),
    "x_j - x_i": lambda layer, x_i, x_j, w, e: x_j - x_i,
    "lin(x_j - x_i)": lambda layer, x_i, x_j, w, e: layer.lin(x_j - x_i),
    "lin(cat(x_i, x_j))": lambda layer, x_i, x_j, w, e: layer.joint(torch.cat((x_i, x_j), -1)),
    "lin(cat(x_j - x_i, x_i))": lambda layer, x_i, x_j, w, e: layer.joint(torch.cat([x_j - x_i, x_i], dim=1)),
    "relu(x_j) scale": lambda layer, x_i, x_j, w, e: x_j.relu() * layer.scale,
    "tanh(x_i) + elu(lin(x_j))": lambda layer, x_i, x_j, w, e: x_i.tanh() + torch.nn.functional.elu(layer.lin(x_j)),
    "softmax(x_j)": lambda layer, x_i, x_j, w, e: x_j.softmax(-1) / 3,
    "by heads": lambda layer, x_i, x_j, w, e: (x_j.view(-1, 2, 2) * w.view(-1, 1, 1)).view(-1, COLUMNS),
    "x_j[:, :2]": lambda layer, x_i, x_j, w, e: x_j[:, :2] * x_j[:, 2:],
    "norms": lambda layer, x_i, x_j, w, e: 2 - x_j.norm(dim=-1, keepdim=True) * x_j,
    "dropout": lambda layer, x_i, x_j, w, e: torch.nn.functional.dropout(x_j, 0.5, training=False) @ layer.other.weight,
    "x_i x_j": lambda layer, x_i, x_j, w, e: x_i * x_j,
    "w x_i x_j + x_j": lambda layer, x_i, x_j, w, e: w.view(-1, 1) * (x_i * x_j) + x_j,
    "x_j + e": lambda layer, x_i, x_j, w, e: x_j + e,
    "lin(cat(x_j, e))": lambda layer, x_i, x_j, w, e: layer.joint(torch.cat((x_j, e), -1)),
    "w (x_j - x_i)": lambda layer, x_i, x_j, w, e: w.view(-1, 1) * (x_j - x_i),
    "x_i sigmoid(x_j)": lambda layer, x_i, x_j, w, e: x_i * x_j.sigmoid() + layer.scale,
}
BEST = list(FUNCTIONS)[: list(FUNCTIONS).index("x_i x_j")]


@pytest.mark.covering(1)
@pytest.mark.parametrize("aggr", AGGRS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_messages_are_not_made(name, aggr, monkeypatch):
    if aggr in ("min", "max") and name not in BEST:
        pytest.skip("the best of these takes messages")
    found = []
    monkeypatch.setattr(layer, "reduced_terms", lambda *args: found.append(reduced_terms(*args)) or found[-1])
    for flow in FLOWS:
        lazy, written = both(FUNCTIONS[name], aggr, flow)
        for kind in ("random", "hub", "multi"):
            agree(lazy, written, *arguments(kind))
            assert lazy.made_for is None
    assert len(found) == 6 and None not in found


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("aggr", ("mean", "max"))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_graph(name, aggr, kind):
    lazy, written = both(FUNCTIONS[name], aggr)
    agree(lazy, written, *arguments(kind))


# ---- random functions -----------------------------------------------------------------------------------------------


def drawn(rng, depth):
    """A random function of the grammar, which may need messages, and how it reads."""
    if depth == 0 or rng.random() < 0.1:
        leaf = rng.choice(["x_j", "x_j", "x_i", "w[:, None] * x_j", "e * x_j", "layer.scale * x_j"])
        return leaf
    inner = drawn(rng, depth - 1)
    other = drawn(rng, rng.randrange(depth))
    return rng.choice(
        [
            f"({inner}) * w.view(-1, 1)",
            f"({inner}) * {rng.choice([2, -0.5, 3.0])}",
            f"({inner}) / 4 - ({other})",
            f"({inner}) + ({other})",
            f"({inner}) * ({other})",
            f"layer.lin({inner})",
            f"layer.joint(torch.cat([{inner}, {other}], -1))",
            f"torch.nn.functional.leaky_relu({inner}, 0.3)",
            f"({inner}).sigmoid()",
            f"({inner}) + e",
            f"({inner}) - layer.scale",
            f"({inner}).reshape(-1, 2, 2).flip(1).flatten(1)",
            f"({inner})[:, :1] * ({other})",
            f"torch.tanh({inner}).clone()",
        ]
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed):
    rng = random.Random(seed)
    text = drawn(rng, rng.randrange(1, 5))
    aggr, flow, kind = rng.choice(AGGRS), rng.choice(FLOWS), rng.choice(KINDS)
    function = eval(f"lambda layer, x_i, x_j, w, e: {text}")
    lazy, written = both(function, aggr, flow)
    agree(lazy, written, *arguments(kind))


# ---- memory ---------------------------------------------------------------------------------------------------------


def largest_allocation(call):
    """Bytes of the largest tensor that torch allocates in a call."""
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        call()
    return max(event.nbytes() for event in profile.kineto_results.events() if event.name() == "[memory]")


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"e x_j", "x_j + e", "lin(cat(x_j, e))"}))
def test_no_message_takes_memory(name):
    aggr = "max" if name in BEST else "sum"
    random, count = torch.Generator().manual_seed(0), 20_000
    edge_index = torch.randint(300, (2, count), generator=random)
    x, w = features(300, COLUMNS).requires_grad_(), features(count, seed=2)
    lazy, written = both(FUNCTIONS[name], aggr)

    def step(layer):
        layer(x, edge_index, w, None).square().mean().backward()

    step(lazy)  # fills caches
    messages = count * COLUMNS * x.element_size()
    assert largest_allocation(lambda: step(written)) >= messages
    assert largest_allocation(lambda: step(lazy)) < messages


# ---- ways of use ----------------------------------------------------------------------------------------------------


def test_the_kernels_of_tgraph_are_called():
    from tgraph.kernels import watched

    lazy, written = both(FUNCTIONS["w lin(x_j)"])
    with watched() as choices:
        written(*arguments("hub"))
    assert not choices
    with watched() as choices:
        lazy(*arguments("hub"))
    assert choices


def test_what_needs_messages_gets_them():
    for function, name in (
        (lambda layer, x_i, x_j, w, e: (x_i + x_j).relu(), "relu"),
        (lambda layer, x_i, x_j, w, e: layer.lin(x_i * x_j), "linear"),
        (lambda layer, x_i, x_j, w, e: x_j - x_j.mean(0), "mean"),
        (lambda layer, x_i, x_j, w, e: x_j if bool((x_j > 0).all()) else 2 * x_j, "gt"),
        (lambda layer, x_i, x_j, w, e: x_j.flip(0), "flip"),
    ):
        lazy, written = both(function)
        agree(lazy, written, *arguments("hub"))
        assert lazy.made_for == name
    lazy, written = both(FUNCTIONS["x_i x_j"], "max")
    agree(lazy, written, *arguments("hub"))
    assert lazy.made_for == "max"


def test_messages_that_are_written_into():
    def doubled(layer, x_i, x_j, w, e):
        kept = x_j.clone()
        x_j *= w[:, None]
        x_j[:, 0] = 1
        return kept + x_j

    agree(*both(doubled), *arguments("hub"))


def test_python_state_is_read_in_each_call():
    layer, _ = both(lambda layer, x_i, x_j, w, e: layer.factor * x_j if layer.training else x_j)
    given = arguments("hub")
    expected = layer.eval()(*given)
    layer.train()
    for layer.factor in (2.0, 3.0):
        close(layer(*given), layer.factor * expected)


def test_copies_pickles_and_back():
    lazy, written = both(None)
    lazy.function = written.function = torch.nn.Identity()
    lazy.function.forward = written.function.forward = weighted
    given = arguments("hub")
    expected = written(*given)
    for twin in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        assert type(twin) is type(lazy) and repr(twin) == repr(written)
        close(twin(*given), expected)
        assert twin.made_for is None
    assert tg.nn.restore(lazy) == [""] and type(lazy) is Written
    close(lazy(*given), expected)


def weighted(layer, x_i, x_j, w, e):
    return w[:, None] * x_j


def test_hooks_on_messages_get_messages():
    lazy, written = both(FUNCTIONS["w x_j"])
    seen = []
    handle = lazy.register_message_forward_hook(lambda layer, inputs, out: seen.append(type(out)))
    given = arguments("hub")
    close(lazy(*given), written(*given))
    handle.remove()
    close(lazy(*given), written(*given))
    assert seen == [torch.Tensor]


def test_no_message_leaves_the_layer():
    class Keeps(Written):
        def message(self, x_i, x_j, w, e):
            self.kept = x_j
            return x_j * w[:, None]

        def update(self, inputs, x):
            return inputs + x

    layer, given = Keeps(None), arguments("hub")
    expected = layer(*given)
    assert tg.nn.accelerate(layer).lazy
    close(layer(*given), expected)
    assert type(layer.kept) is LazyMessages
    close(layer.kept + 0, given[0][given[1][0]])


def test_infinite_features_of_vertices_without_edges():
    for name in ("x_j - x_i", "x_i x_j", "lin(cat(x_i, x_j))"):
        lazy, written = both(FUNCTIONS[name])
        x, edge_index, w, e = arguments("hub")
        x[-1] = torch.inf
        close(lazy(x, edge_index, w, e), written(x, edge_index, w, e))
    lazy, written = both(lambda layer, x_i, x_j, w, e: x_j.abs().sqrt() + x_j.exp())
    x, edge_index, w, e = arguments("hub")
    x[-1] = 0
    agree(lazy, written, x, edge_index, w, e)


# ---- layers of PyTorch Geometric that tgraph.nn does not have -------------------------------------------------------

LAYERS = {
    "LEConv": lambda: theirs.LEConv(4, 3),
    "TAGConv": lambda: theirs.TAGConv(4, 3),
    "ClusterGCNConv": lambda: theirs.ClusterGCNConv(4, 3),
    "LGConv": lambda: theirs.LGConv(),
    "ARMAConv": lambda: theirs.ARMAConv(4, 3, num_stacks=2),
    "ChebConv": lambda: theirs.ChebConv(4, 3, K=3),
    "MFConv": lambda: theirs.MFConv(4, 3),
    "SSGConv": lambda: theirs.SSGConv(4, 3, alpha=0.1),
    "GatedGraphConv": lambda: theirs.GatedGraphConv(4, num_layers=2),
    "Own": lambda: Own(4, 3),
}


class Own(theirs.GCNConv):
    def message(self, x_j, edge_weight):
        return 2 * edge_weight.view(-1, 1) * x_j.tanh()


@pytest.mark.parametrize("name", LAYERS)
def test_layers_without_messages(name):
    torch.manual_seed(0)
    written = LAYERS[name]().double()
    lazy = copy.deepcopy(written)
    assert tg.nn.accelerate(lazy).lazy
    edge_index, n = edges("hub")
    agree(lazy, written, features(n, 4), edge_index)
    assert lazy.made_for is None


def test_between_two_sets():
    lazy, written = both(FUNCTIONS["lin(cat(x_j - x_i, x_i))"])
    edge_index = torch.stack((torch.randint(5, (40,)), torch.randint(9, (40,))))
    pair = features(5, COLUMNS), features(9, COLUMNS, seed=2)
    agree(lazy, written, pair, edge_index, features(40), features(40, COLUMNS))
    assert lazy.made_for is None


def test_what_is_kept_has_a_reason():
    class Aggregates(Written):
        def aggregate(self, inputs, index):
            return inputs

    layers = [Aggregates(None), Written(None, "median"), theirs.AGNNConv(), Assigned(None), theirs.EGConv(4, 8)]
    done = tg.nn.accelerate(torch.nn.ModuleList(layers))
    assert not done.lazy
    assert done.kept["0"] == done.kept["4"] == "its aggregate is its own"
    assert "aggr='median' is not one of" in done.kept["1"]
    assert done.kept["2"] == "its message takes index, ptr, size_i, as for a softmax over edges"
    assert done.kept["3"] == "its message was replaced, or is hooked"


def test_advice_says_where_messages_are_made():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = (
                Written(FUNCTIONS["w x_j"]),
                Written(lambda layer, x_i, x_j, w, e: (x_i + x_j).relu()),
            )
            self.third = Written(None, "median")

        def forward(self, x, edge_index, w, e):
            return self.second(self.first(x, edge_index, w, e), edge_index, w, e)

    advice = tg.advise(Model(), arguments("hub")[1], arguments("hub")[0], *arguments("hub")[2:], orders=(), layouts=())
    assert [layer.name for layer in advice.layers] == ["Written, lazy", "Written, lazy"]
    assert advice.layers[0].forward and not advice.layers[1].forward
    assert advice.kept["second"] == "its message materialises messages, for relu"
    assert "aggr='median'" in advice.kept["third"]
    assert "first" in str(advice) and "relu" in str(advice)
    assert "give x" in tg.advise(Model(), arguments("hub")[1], orders=(), layouts=()).kept["first"]


class Assigned(Written):
    def __init__(self, function):
        super().__init__(function)
        self.message = lambda x_i, x_j, w, e: x_j
