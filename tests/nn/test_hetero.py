"""Layers of tg.nn, and accelerated ones, within PyTorch Geometric's HeteroConv, to_hetero and to_hetero_with_bases."""

import copy

import pytest
import torch
from nn_samples import RELATIONS, SIZES, features, same

import tgraph as tg

pytest.importorskip("torch_geometric", reason="the containers are PyTorch Geometric's")
from torch_geometric import nn as theirs

pytestmark = pytest.mark.usefixtures("float64")
METADATA = (list(SIZES), RELATIONS)

# Layers between two sets of vertices, with columns of the first input.
LAYERS = {
    "SAGEConv": ((-1, -1), 6),
    "GraphConv": ((-1, -1), 6),
    "GATConv": ((-1, -1), 6, 1, True, 0.2, 0.0, False),
    "GATv2Conv": ((-1, -1), 6, 1, True, 0.2, 0.0, False),
    "TransformerConv": ((-1, -1), 6),
    "ResGatedGraphConv": ((-1, -1), 6),
    "Written": (),
}


class Written(theirs.MessagePassing):
    """A layer as users write them."""

    def __init__(self):
        super().__init__(aggr="mean")
        self.of_source, self.of_target = theirs.Linear(-1, 6, bias=False), theirs.Linear(-1, 6)

    def forward(self, x, edge_index):
        source, target = (x, x) if isinstance(x, torch.Tensor) else x
        return self.propagate(edge_index, x=(self.of_source(source), self.of_target(target)))

    def message(self, x_i, x_j):
        return x_j - x_i


class Net(torch.nn.Module):
    """Two layers of one kind, with the features of vertices added to what the first gives."""

    def __init__(self, make):
        super().__init__()
        self.first, self.second, self.own = make(), make(), theirs.Linear(-1, 6)

    def forward(self, x, edge_index):
        return self.second((self.first(x, edge_index) + self.own(x)).relu(), edge_index)


def maker(library, name):
    return Written if name == "Written" else lambda: getattr(library, name)(*LAYERS[name])


def convolved(make):
    return theirs.HeteroConv({relation: make() for relation in RELATIONS}, aggr="sum")


CONTAINERS = {"HeteroConv": convolved, "to_hetero": lambda make: theirs.to_hetero(Net(make), METADATA)}


def inputs(widths):
    random = torch.Generator().manual_seed(2)
    x = {kind: features(size, width) for (kind, size), width in zip(SIZES.items(), widths, strict=True)}
    return x, {
        kind: torch.stack([torch.randint(SIZES[end], (12,), generator=random) for end in (kind[0], kind[-1])])
        for kind in RELATIONS
    }


def layers_of(model):
    return [module for module in model.modules() if isinstance(module, theirs.MessagePassing)]


@pytest.mark.covering(1)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_in_containers(name, container):
    x, edge_index = inputs((4, 5, 6))
    written = CONTAINERS[container](maker(theirs, name))
    written(x, edge_index)
    accelerated = copy.deepcopy(written)
    done = tg.nn.accelerate(accelerated)
    assert not done.kept and len(done.replaced or done.lazy) == len(layers_of(written)) > 0
    same(accelerated, written, x, edge_index)
    if name == "Written":
        assert all(layer.made_for is None for layer in layers_of(accelerated))
        return
    plain = CONTAINERS[container](maker(tg.nn, name))
    plain(x, edge_index)
    plain.load_state_dict(written.state_dict())
    assert all(isinstance(layer, tg.nn.MessagePassing) for layer in layers_of(plain))
    same(plain, written, x, edge_index)


@pytest.mark.parametrize("name", LAYERS)
def test_acceleration_before_columns_are_known(name):
    x, edge_index = inputs((4, 5, 6))
    written = theirs.to_hetero(Net(maker(theirs, name)), METADATA)
    written(x, edge_index)
    early = Net(maker(theirs, name))
    assert len(tg.nn.accelerate(early).kept) == 0
    for model in (theirs.to_hetero(early, METADATA), theirs.to_hetero(Net(maker(theirs, name)), METADATA)):
        tg.nn.accelerate(model)
        model(x, edge_index)
        model.load_state_dict(written.state_dict())
        same(model, written, x, edge_index)
        assert len(tg.nn.restore(model)) == len(layers_of(model))
        same(model, written, x, edge_index)


@pytest.mark.parametrize("name", ["SAGEConv", "GraphConv"])
def test_shared_bases(name):
    class One(torch.nn.Module):
        def __init__(self, library):
            super().__init__()
            self.layer = getattr(library, name)((4, 4), 6)

        def forward(self, x, edge_index):
            return self.layer(x, edge_index)

    x, edge_index = inputs((4, 4, 4))
    plain, written = (
        theirs.to_hetero_with_bases(One(library), METADATA, num_bases=2, in_channels={"x": 4})
        for library in (tg.nn, theirs)
    )
    written(x, edge_index), plain(x, edge_index)
    plain.load_state_dict(written.state_dict())
    same(plain, written, x, edge_index)
    accelerated = copy.deepcopy(written)
    assert len(tg.nn.accelerate(accelerated).replaced) == 2
    same(accelerated, written, x, edge_index)
