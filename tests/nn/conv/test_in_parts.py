"""Layers on graphs in layouts and streams: as on the graph in CSR, and no more arcs are held at once than the layout
decodes."""

import weakref

import decoding
import pytest
import torch
from nn_samples import built, close, differentiated, layers
from streams import streamed

import tgraph as tg
from tgraph.core.rows import Decoded
from tgraph.kernels.layout.in_parts import RowsInParts

AT_ONCE = 9
N = 12


class Held:
    """How many arcs are held at most, of what a function decodes."""

    now = most = 0

    def __init__(self, patch):
        for kind, name, neighbors in (
            (RowsInParts, "_decoded", lambda owner, arcs: arcs.neighbors),
            (Decoded, "__init__", lambda owner, _: owner.stored_neighbors),
        ):
            patch.setattr(kind, name, self.counted(getattr(kind, name), neighbors))

    def counted(self, function, neighbors):
        def call(owner, *arguments):
            found = function(owner, *arguments)
            tensor = neighbors(owner, found)
            self.now += len(tensor)
            self.most = max(self.most, self.now)
            weakref.finalize(tensor, self.free, len(tensor))
            return found

        return call

    def free(self, count):
        self.now -= count


@pytest.fixture(params=["virtual", "elias_fano", "cbm", "streamed"])
def held(request, tmp_path, monkeypatch):
    """(graph in CSR with self-loops, the same in a layout that decodes few arcs at once)"""
    random = torch.Generator().manual_seed(2)
    ends = torch.cat((torch.randint(0, N - 1, (2, 50), generator=random), torch.arange(0, 8, 2).expand(2, -1)), 1)
    weights = None if request.param == "cbm" else torch.rand(ends.shape[1], generator=random) + 0.5
    if weights is not None:
        ends, weights = torch.cat((ends, ends[:, -1:]), 1), torch.cat((weights, weights[:1]))
    graph = tg.Graph.from_edges(*ends, weights, num_vertices=N, multi="first" if weights is None else "keep")
    found = decoding.held(graph, request.param, tmp_path)
    monkeypatch.setattr(type(found.layout), "arcs_at_once", AT_ONCE)
    return graph, found


@pytest.mark.parametrize("options", [{}, {"dropout": 0.4}, {"flow": "target_to_source"}], ids=str)
@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_attention(held, name, options, monkeypatch):
    graph, in_layout = held
    layer, counted = built(tg.nn, name, (6, 2), {"heads": 2, **options}), Held(monkeypatch)
    x = torch.rand(N, 6, dtype=torch.float64)
    with decoding.watched() as decoded:
        torch.manual_seed(3)
        found = differentiated(layer, x, in_layout)
    torch.manual_seed(3)
    expected = differentiated(layer, x, graph)
    for mine, other in zip((found[0], *found[2]), (expected[0], *expected[2]), strict=True):
        close(mine, other)
    longest = int(torch.maximum(graph.in_degree, graph.out_degree).max())
    loops = 0 if name == "TransformerConv" else N
    assert not decoded and 0 < counted.most <= max(longest, AT_ONCE) + loops


AGGREGATES = {
    "GCNConv": {},
    "GCNConv improved": {"improved": True},
    "GCNConv as it is": {"normalize": False},
    "GCNConv without self-loops": {"add_self_loops": False},
    "GraphConv": {},
    "GraphConv max": {"aggr": "max"},
    "SAGEConv max": {"aggr": "max"},
    "SAGEConv min": {"aggr": "min", "flow": "target_to_source"},
    "ResGatedGraphConv": {},
    "EdgeConv": {},
    "SGConv": {"K": 2, "flow": "target_to_source"},
}


@pytest.mark.parametrize("name", AGGREGATES)
def test_sums_extremes_and_messages(held, name, monkeypatch):
    """Self-loops, one of them twice, are replaced by the last of each vertex, and added to the others."""
    graph, in_layout = held
    kind, counted = name.split()[0], Held(monkeypatch)
    sizes = (torch.nn.Linear(12, 4, dtype=torch.float64),) if kind == "EdgeConv" else (6, 4)
    layer, x = built(tg.nn, kind, sizes, AGGREGATES[name]), torch.rand(N, 6, dtype=torch.float64)
    with decoding.watched() as decoded:
        found = differentiated(layer, x, in_layout)
    expected = differentiated(layer, x, graph)
    assert not decoded and counted.most <= max(int(graph.in_degree.max()), int(graph.out_degree.max()), AT_ONCE)
    assert found[0].dtype == expected[0].dtype
    for mine, other in zip((found[0], *found[2]), (expected[0], *expected[2]), strict=True):
        close(mine, other, 1e-6)  # the weights are float32


OF_EDGES = {  # columns of the data of edges, 0 for types, None for one weight each
    "GINEConv": (3, {"edge_dim": 3}),
    "GINEConv mean": (6, {"aggr": "mean"}),
    "ResGatedGraphConv": (3, {"edge_dim": 3}),
    "GraphConv": (None, {}),
    "GCNConv": (None, {}),
    "GCNConv without self-loops": (None, {"add_self_loops": False}),
    "RGCNConv": (0, {"num_relations": 2}),
    "RGCNConv sum": (0, {"num_relations": 2, "aggr": "sum", "num_bases": 2}),
}


@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
@pytest.mark.parametrize("name", OF_EDGES)
def test_data_of_edges(held, name, flow, monkeypatch):
    graph, in_layout = held
    kind, counted, (columns, options) = name.split()[0], Held(monkeypatch), OF_EDGES[name]
    m = graph.num_arcs
    data = torch.rand(m, *([columns] if columns else []), dtype=torch.float64) if columns != 0 else torch.arange(m) % 2
    sizes = (torch.nn.Linear(6, 4, dtype=torch.float64),) if kind == "GINEConv" else (6, 4)
    layer, x = built(tg.nn, kind, sizes, {"flow": flow, **options}), torch.rand(N, 6, dtype=torch.float64)
    with decoding.watched() as decoded:
        found = differentiated(layer, x, in_layout, data)
    expected = differentiated(layer, x, graph, data)
    assert not decoded and counted.most <= max(int(graph.in_degree.max()), int(graph.out_degree.max()), AT_ONCE)
    for mine, other in zip((found[0], *found[2]), (expected[0], *expected[2]), strict=True):
        close(mine, other)


def test_self_loops_of_either_flow_on_one_graph():
    """Features of self-loops are those of the edges of the flow, whichever layer made the loops."""
    graph = tg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1])
    x, data = torch.rand(3, 4), torch.rand(4, 2)
    layer = tg.nn.GATConv(4, 3, edge_dim=2, flow="target_to_source")
    tg.nn.GCNConv(4, 3, flow="target_to_source")(x, graph, data[:, 0])
    assert torch.equal(layer(x, graph, data), layer(x, graph.to_edge_index(), data))


@pytest.mark.parametrize("name", ["GATv2Conv", "SAGEConv max", "ResGatedGraphConv"])
def test_training_on_a_graph_that_does_not_fit_its_budget(name):
    graph = tg.generators.uniform(9, 64)
    in_blocks = streamed(graph, 8, slack=1 << 15)
    with pytest.raises(tg.errors.MemoryBudgetError):
        in_blocks.decoded()
    layer, x = layers()[name], torch.rand(graph.num_vertices, 6, dtype=torch.float64)
    found, expected = (differentiated(layer, x, each) for each in (in_blocks, graph))
    for mine, other in zip((found[0], *found[2]), (expected[0], *expected[2]), strict=True):
        close(mine, other)
