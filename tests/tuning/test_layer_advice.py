"""`advise` of a model names the backends that run."""

import copy

import pytest
import torch
from nn_samples import edges, features, layers

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import BACKENDS, Implementation
from tgraph.kernels.layout import aggregation as layout
from tgraph.kernels.native.aggregation import csr_sums
from tgraph.kernels.native.attention import attention
from tgraph.tuning import layer_advice
from tgraph.tuning.findings import figure, size

LAYERS = layers()
OPERATIONS = {"pull": "aggregate", "push": "push_rows"}  # what backends call an operator, where the name is another


SPIED = {
    *("aggregate", "push_rows", "products", "argreduce", "segment_argreduce", "scatter_argreduce"),
    *("attend", "attend_backward", "attention_weights"),
}


@pytest.fixture
def served(monkeypatch):
    """[(backend, operation)] of the functions of backends that are called."""
    calls = []

    def spy(name, operation, function):
        def called(*args, **kwargs):
            calls.append((name, operation))
            return function(*args, **kwargs)

        return called

    for backend in BACKENDS.values():
        for operation in SPIED & backend.operators.keys():
            run, refuses = backend.operators[operation]
            watched = Implementation(spy(backend.name, operation, run), refuses)
            monkeypatch.setitem(backend.operators, operation, watched)
    for operation in ("attend", "attend_backward"):  # kernels that are called at once
        monkeypatch.setattr(attention, operation, spy("native", operation, getattr(attention, operation)))
    monkeypatch.delitem(BACKENDS["native"].operators, "sum_segments")  # a sum over rows that is no aggregate
    at_once = dict.fromkeys(("sum_rows", "sum_columns", "best_of_rows"), "aggregate")
    at_once |= {"argbest_of_rows": "aggregate", "best_of_columns": "argreduce"}
    for name, operation in at_once.items():
        monkeypatch.setattr(csr_sums, name, spy("native", operation, getattr(csr_sums, name)))

    def in_layout(*arguments, given=layout.at_once):
        received = given(*arguments)
        calls.extend([] if received is None else [("layout", "aggregate")])
        return received

    monkeypatch.setattr(layout, "at_once", in_layout)
    return calls


def graph_of(kind):
    ends, n = edges("random")
    graph = tg.Graph.from_edges(*ends, num_vertices=n, multi="first").without_self_loops()
    if kind == "graph":
        return graph
    if kind == "edge_index":
        return graph.to_edge_index()
    if kind == "sparse":
        adjacency = torch.sparse_coo_tensor(graph.to_edge_index().flip(0), torch.ones(graph.num_arcs).double(), (n, n))
        return adjacency.coalesce().to_sparse_csr()
    return graph.to_format(kind)


@pytest.mark.covering(2)
@pytest.mark.parametrize("kind", ["graph", "edge_index", "sparse", "virtual", "cbm"])
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("compiled", [True, False])
def test_the_backend_named_is_the_one_that_runs(name, kind, compiled, served, monkeypatch):
    if compiled and native.load() is None:
        pytest.skip("the native kernels are not installed")
    if not compiled:
        monkeypatch.setenv("TGRAPH_NATIVE", "0")
    layer, graph = copy.deepcopy(LAYERS[name]), graph_of(kind)
    x = features(15, 6).requires_grad_()
    found = tg.advise(layer, graph, x, orders=(), layouts=()).layers[0]
    assert found.place == "" and found.name == type(layer).__name__ and found.calls == 1
    served.clear()
    result = layer(x, graph)
    assert served == [(step.backend, OPERATIONS.get(step.operation, step.operation)) for step in found.forward]
    served.clear()
    result.sum().backward()
    backward = [(step.backend, OPERATIONS.get(step.operation, step.operation)) for step in found.backward]
    if kind in ("virtual", "cbm") and backward[:1] == [("layout", "aggregate")]:  # the layout calls itself
        assert served == [] and set(backward) == {("layout", "aggregate")}
    else:
        assert served == backward
    if not compiled:
        refused = [step.refused.get("native") for step in found.forward if step.backend == "portable"]
        assert all(reason and "TGRAPH_NATIVE=0" in reason for reason in refused)


def timer_of(*seconds, shape=None):
    """A timer that calls the function and takes its times from a list."""
    times = iter(seconds)

    def timer(step):
        result = step()
        assert shape is None or result.shape == shape
        return next(times)

    return timer


def clique():
    return tg.Graph.from_edges(*torch.combinations(torch.arange(40)).t(), directed=False)


def test_a_graph_in_a_layout():
    graph = clique().to_format("virtual")
    found = tg.advise(tg.nn.SAGEConv(6, 6), graph, layouts=("virtual",), timer=timer_of(2.0, 1.0))
    step = found.layers[0].forward[0]
    assert step.backend == "layout"
    assert step.shape == (6,) and step.milliseconds > 0
    assert found.layers[0].backward == ()  # the features of the first layer record no gradient
    assert found.layouts.recommended == "virtual" and found.hints[-1] == "layout: keep 'virtual', as recommended above"
    found = tg.advise(tg.nn.SAGEConv(6, 6), graph, layouts=("virtual",), timer=timer_of(1.0, 2.0))
    assert found.layouts.recommended == "csr" and found.hints[-1] == "layout: graph.to_csr(), as recommended above"


def test_a_graph_that_streams(tmp_path):
    path = tmp_path / "blocks.tg"
    tg.stream.write_partitioned(graph_of("graph"), path, parts=3)
    found = tg.advise(tg.nn.GCNConv(6, 6), tg.stream.open(path, memory="100MB"))
    assert [step.backend for step in found.layers[0].forward] == ["layout"]
    assert not found.orders and not found.layouts


def test_layouts_that_serve_a_layer_are_measured():
    graph = clique()
    model = torch.nn.ModuleDict(
        {"sum": tg.nn.GINConv(torch.nn.Linear(6, 6)), "max": tg.nn.SAGEConv(6, 6, "max"), "gat": tg.nn.GATConv(6, 6)}
    )
    found = tg.advise(model, graph, layouts=("cbm", "virtual"), timer=timer_of(4.0, 2.0, 3.0))
    assert found.serves["cbm"] == ("sum",)
    assert "gat" not in found.serves["virtual"] and "sum" in found.serves["virtual"]
    times = [(each.layout, each.milliseconds) for each in found.layouts.measured]
    assert times == [("csr", 4e3), ("cbm", 2e3), ("virtual", 3e3)]
    assert found.layouts.features == found.columns == 6 and found.layouts.arcs == graph.num_arcs
    for each in found.layouts.measured[1:]:
        assert each.bytes_per_edge == graph.to_format(each.layout).layout.nbytes / graph.num_arcs
    assert found.hints[-1] == "layout: graph.to_format('cbm'), as recommended above"
    assert "cbm supports sum" in str(found) and "recommended: cbm, 2.00 times as fast as csr" in str(found)


def test_layouts_that_serve_no_layer_are_not_measured():
    found = tg.advise(tg.nn.GATConv(6, 6), clique(), layouts=("cbm",))
    assert found.layouts.refused == {"cbm": "no layer sums in it"} and not found.serves
    assert [each.layout for each in found.layouts.measured] == ["csr"]
    assert found.hints[-1] == "layout: keep 'csr', as recommended above"


@pytest.fixture
def small_cache(monkeypatch):
    """A cache of 16 KiB."""
    monkeypatch.setattr(layer_advice, "cache_bytes", lambda device: 1 << 14)


def mesh():
    """One whose vertices are in a random order."""
    return tg.generators.grid2d(30, 30).permute(torch.randperm(900, generator=torch.Generator().manual_seed(0)))


def test_orders_are_measured_in_turns(small_cache):
    timer = timer_of(*3 * (4.0, 2.0, 1.0), shape=(900, 64))
    found = tg.advise(tg.nn.SAGEConv(64, 64), mesh(), orders=("degree", "rcm"), layouts=(), timer=timer)
    times = [(each.order, each.milliseconds) for each in found.orders]
    assert times == [("", 4e3), ("degree", 2e3), ("rcm", 1e3)]
    assert "graph.reorder('rcm') makes sums 4.00 times as fast" in str(found)


def test_orders_of_an_edge_index_are_measured(small_cache):
    found = tg.advise(tg.nn.SAGEConv(64, 64), mesh().to_edge_index(), layouts=())
    assert found.columns == 64 and found.cache == 1 << 14
    assert [each.order for each in found.orders] == ["", "degree", "rcm", "community"]
    assert all(each.milliseconds > 0 for each in found.orders)
    assert "ms for a sum of 64 float32" in str(found) and "as it is" in str(found)


def test_rows_that_fit_the_cache_need_no_order():
    found = tg.advise(tg.nn.SAGEConv(6, 6), graph_of("graph"), layouts=())
    assert not found.orders and "no order helps" in str(found)


def test_a_model_stays_as_it_is():
    edge_index, _ = edges("random")
    model = torch.nn.ModuleDict({"conv": tg.nn.GATConv(6, 6, dropout=0.5), "norm": torch.nn.BatchNorm1d(6)})
    before, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    tg.advise(model, edge_index, layouts=("sell",))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters()) and model.training


class Twice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.unused = tg.nn.GCNConv(-1, 6), tg.nn.GINConv(torch.nn.Identity())

    def forward(self, x, edge_index, edge_weight=None):
        return self.conv(self.conv(x, edge_index, edge_weight).relu(), edge_index, edge_weight=edge_weight)


def test_layers_are_called_as_the_model_calls_them():
    edge_index, n = edges("random")
    model, weights = Twice(), torch.rand(edge_index.shape[1])
    found = tg.advise(model, edge_index, torch.rand(n, 6), weights)
    assert [(layer.place, layer.calls) for layer in found.layers] == [("conv", 2)]
    assert found.kept == {"unused": "the model does not call it"}
    assert "GCNConv, called 2 times" in str(found) and "unused: the model does not call it" in str(found)
    assert isinstance(model.conv.lin.weight, torch.nn.UninitializedParameter)
    assert not found.serves  # the edges have weights


def test_in_evaluation_there_is_no_backward():
    edge_index, n = edges("random")
    for name, layer in LAYERS.items():
        found = tg.advise(copy.deepcopy(layer).eval(), edge_index, features(n, 6), layouts=())
        in_torch_alone = name == "ResGatedGraphConv"  # its messages and their sums
        assert bool(found.layers[0].forward) != in_torch_alone and not found.layers[0].backward


def test_features_are_made_up():
    edge_index, _ = edges("random")
    model = torch.nn.ModuleList(
        [
            tg.nn.TransformerConv(6, 2, edge_dim=3),
            tg.nn.GATv2Conv((4, 5), 2, add_self_loops=False),
            tg.nn.GINConv(torch.nn.Sequential(torch.nn.Linear(7, 2))),
        ]
    ).double()
    found = tg.advise(model, edge_index, layouts=(), orders=())
    assert [layer.forward[0].shape for layer in found.layers] == [(2,), (2,), (7,)]
    assert all(layer.forward[0].dtype == torch.float64 for layer in found.layers)
    matrix = torch.sparse_coo_tensor([[0, 1, 1], [4, 2, 3]], torch.ones(3).double(), (2, 5)).to_sparse_csr()
    found = tg.advise(tg.nn.SAGEConv(6, 2).double(), matrix)
    assert found.layers[0].forward and not found.layouts and not found.orders


@pytest.mark.parametrize("kind", ["empty", pytest.param("one", marks=pytest.mark.thorough)])
def test_small_graphs(kind):
    edge_index, _ = edges(kind)
    for given in (edge_index, tg.Graph.from_edge_index(edge_index)):
        for name, layer in LAYERS.items():
            assert name.split()[0] in str(tg.advise(layer, given))


def test_of_a_compiled_model_the_layers_are_watched_as_they_are():
    edge_index, n = edges("random")
    compiled = torch.compile(tg.nn.GCNConv(6, 6), backend="eager")
    for x in (None, torch.rand(n, 6)):
        assert tg.advise(compiled, edge_index, x, layouts=()).layers[0].name == "GCNConv"


def test_models_without_layers():
    assert str(tg.advise(torch.nn.Linear(2, 2), graph_of("graph"))) == "no layers of tgraph.nn or of PyTorch Geometric"


def test_faults():
    edge_index, _ = edges("random")
    with pytest.raises(ArgumentError, match="x: the model takes its columns from its first input; give x"):
        tg.advise(tg.nn.GCNConv(-1, 2), edge_index)
    with pytest.raises(ArgumentError, match="graph: expected a graph, edges or a sparse matrix, got dict"):
        tg.advise(tg.nn.GCNConv(2, 2), {})
    with pytest.raises(ArgumentError, match="orders: 'random' is not one of"):
        tg.advise(tg.nn.GCNConv(2, 2), edge_index, orders=("random",))
    with pytest.raises(ArgumentError, match="layout: 'rows' is not one of"):
        tg.advise(tg.nn.GCNConv(2, 2), edge_index, layouts=("rows",))


def test_numbers_read_well():
    assert [figure(each) for each in (0.01234, 1.5, 99.94, 1234.5)] == ["0.0123", "1.5", "99.9", "1,234"]
    assert [size(each) for each in (0, 1023, 1024, 3 << 19, 5 << 30)] == ["0 B", "1023 B", "1 KiB", "1.5 MiB", "5 GiB"]


def test_layers_of_pyg():
    theirs = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is what is accelerated").nn
    edge_index, _ = edges("random")
    model = torch.nn.ModuleList([theirs.GCNConv(6, 6), theirs.ChebConv(6, 6, 2), tg.nn.GCNConv(6, 6)])
    found = tg.advise(model, edge_index)
    assert {layer.place: layer.name for layer in found.layers} == {"0": "GCNConv of PyG", "2": "GCNConv"}
    assert list(found.kept) == ["1"] and "give x" in found.kept["1"]
    assert found.hints[0] == "accelerate: the kernels above are those of 0 after tg.nn.accelerate(model)"
    assert type(model[0]) is theirs.GCNConv
    assert tg.nn.accelerate(model).replaced
    assert tg.advise(model, edge_index).layers[0].name == "GCNConv"


def test_models_on_several_graphs():
    theirs = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is what is accelerated").nn
    model = theirs.HeteroConv({("a", "to", "b"): theirs.SAGEConv((-1, -1), 4)})
    edge_index = {("a", "to", "b"): torch.tensor([[0, 1, 2], [0, 1, 3]])}
    found = tg.advise(model, edge_index, {"a": torch.rand(5, 3), "b": torch.rand(4, 2)})
    assert [layer.forward[0].shape for layer in found.layers] == [(3,)]
    assert not found.orders and not found.layouts
