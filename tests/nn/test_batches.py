"""Layers on mini-batches: nothing of one outlives it, and what is computed without torch's dispatcher is the same as
with it."""

import gc
import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tgraph as tg
from tgraph import nn
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import tuned
from tgraph.nn.edge_index import adjacency_of
from tgraph.nn.self_loops import find_loops

LAYERS = {
    "GCN": lambda: nn.GCNConv(6, 4),
    "SAGE": lambda: nn.SAGEConv(6, 4),
    "GIN": lambda: nn.GINConv(torch.nn.Linear(6, 4), eps=0.3),
    "GIN, trained": lambda: nn.GINConv(torch.nn.Linear(6, 4), train_eps=True),
    "GAT": lambda: nn.GATConv(6, 4, heads=2),
    "GATv2": lambda: nn.GATv2Conv(6, 4, heads=2),
    "Transformer": lambda: nn.TransformerConv(6, 4, heads=2),
}


class Observed(TorchDispatchMode):
    """Records the names of operators of tgraph."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "tgraph":
            self.names.add(func._schema.name)
        return func(*args, **(kwargs or {}))


def batch():
    made = torch.Generator().manual_seed(3)
    x = torch.randn(30, 6, generator=made, dtype=torch.float64)
    return x, torch.randint(30, (2, 120), generator=made)


def computed(layer, x, edge_index):
    """The result, first derivatives of x and parameters, and second ones of x."""
    leaf = x.clone().requires_grad_()
    out = layer(leaf, edge_index)
    first = torch.autograd.grad(out.sin().sum(), [leaf, *layer.parameters()], create_graph=True)
    (second,) = torch.autograd.grad(first[0].pow(2).sum(), leaf)
    return [out, *first, second]


@pytest.mark.parametrize("name", LAYERS)
def test_at_once_and_by_operators(name):
    torch.manual_seed(0)
    layer, (x, edge_index) = LAYERS[name]().double(), batch()
    found = computed(layer, x, edge_index)
    with Observed() as seen:
        expected = computed(layer, x, edge_index.clone())
    assert seen.names
    torch.testing.assert_close(found, expected)


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
@pytest.mark.parametrize("name", LAYERS)
def test_a_new_batch_calls_no_registered_operator(name, untuned):
    """Each call of one goes through torch's dispatcher, twice."""
    layer, (x, edge_index) = LAYERS[name]().double(), batch()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        layer(x.requires_grad_(), edge_index).sum().backward()
    names = {event.key for event in profiled.key_averages()}
    assert "aten::sum" in names and not [name for name in names if name.startswith("tgraph::")]


@pytest.fixture
def measured(untuned):
    return lambda graph: tuned.store({tuned.key(graph, "sum", 6, torch.float64): tuned.Measured("portable", {})})


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
def test_what_was_measured_on_another_graph_counts_for_no_batch(measured):
    layer, (x, edge_index) = LAYERS["SAGE"]().double(), batch()

    def operators():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
            layer(x, edge_index)
        return [event.key for event in profiled.key_averages() if event.key.startswith("tgraph::")]

    measured(tg.generators.rmat(9, 16))
    assert not operators()
    measured(tg.Graph.from_edges(*edge_index, num_vertices=30))
    assert operators()


@pytest.mark.parametrize("name", LAYERS)
def test_nothing_of_a_batch_waits_for_the_collector(name):
    layer, (x, edge_index) = LAYERS[name]().double(), batch()
    layer(x.requires_grad_(), edge_index).sum().backward()
    adjacency = adjacency_of(edge_index, (30, 30))
    held = [weakref.ref(adjacency), weakref.ref(find_loops(adjacency, 30, "source_to_target").adjacency)]
    del adjacency
    gc.disable()
    try:
        del edge_index
        assert [each() for each in held] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("name", LAYERS)
def test_blocks_are_what_layers_take(name):
    """The same as the edge_index of the block, with its gradients, and nothing is kept of it."""
    sample = tg.sampling.NeighborSampler(tg.generators.rmat(7), [5, 4], seed=2).sample(torch.arange(20))
    block, layer = tg.sampling.blocks(sample)[-1], LAYERS[name]()
    arcs, size = block.csr.num_arcs, len(block.source)
    found = []
    for given in (block.csr, torch.stack((sample.row[:arcs], sample.col[:arcs]))):
        x = torch.linspace(-1, 1, size * 6).view(size, 6).requires_grad_()
        pair = x, x[: len(block.destination)]
        if name == "GCN":  # whose destinations are its sources
            pair, given = x, given if isinstance(given, torch.Tensor) else square(given)
        out = layer(pair, given)[: len(block.destination)]
        out.square().sum().backward()
        found.append((out.detach(), x.grad))
    torch.testing.assert_close(found[0], found[1])
    nn.forget(block.csr)


def square(csr):
    """The same arcs, with as many rows as there are columns."""
    missing = csr.num_columns - csr.num_rows
    offset = torch.cat((csr.offset, csr.offset[-1:].expand(missing)))
    return type(csr)(offset, csr.neighbors, None, csr.num_columns)


def test_blocks_that_do_not_fit_are_refused():
    csr = tg.sampling.blocks(tg.sampling.NeighborSampler(tg.generators.rmat(5), [3]).sample([1, 2]))[0].csr
    with pytest.raises(ArgumentError, match="sources does not fit"):
        nn.SAGEConv(2, 2)((torch.rand(50, 2), torch.rand(csr.num_rows, 2)), csr)
    with pytest.raises(ArgumentError, match="rows of a Csr are destinations"):
        nn.SAGEConv(2, 2, flow="target_to_source")((torch.rand(csr.num_rows, 2), torch.rand(csr.num_columns, 2)), csr)
