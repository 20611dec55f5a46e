"""Forward, gradients, parameters and printed form of every layer against PyTorch Geometric's, in float64."""

import pytest
import torch
from nn_samples import KINDS, agree, built, close, edges, features

import tgraph as tg
from tgraph.core.building import sorting

pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is what the layers are compared with")
from torch_geometric import nn as theirs  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in ("Sparse", "Converting sparse", ".*sparse CSR")
]

FLOWS = ("source_to_target", "target_to_source")


def both(name, arguments, options):
    ours, other = built(tg.nn, name, arguments, options), built(theirs, name, arguments, options)
    state, expected = ours.state_dict(), other.state_dict()
    assert list(state) == list(expected)
    assert all(torch.equal(state[key], expected[key]) for key in state)
    assert repr(ours) == repr(other)
    ours.load_state_dict(expected)
    other.load_state_dict(state)
    return ours, other


def matrix(edge_index, num_vertices, layout):
    """adj_t, whose values are how many edges are parallel."""
    size = (num_vertices, num_vertices)
    values = torch.ones(edge_index.shape[1], dtype=torch.float64)
    adj = torch.sparse_coo_tensor(edge_index.flip(0), values, size, check_invariants=False).coalesce()
    return adj if layout == "coo" else adj.to_sparse_csr()


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"improved": True},
        {"add_self_loops": False},
        {"normalize": False},
        {"bias": False, "aggr": "mean"},
        {"aggr": "max"},
    ],
    ids=str,
)
def test_gcn(kind, options, flow):
    edge_index, n = edges(kind)
    weight = features(edge_index.shape[1]).abs() + 0.1
    for widths in ((6, 3), (3, 6)):
        ours, other = both("GCNConv", widths, {"flow": flow, **options})
        x = features(n, widths[0])
        agree(ours, other, x, edge_index)
        loops = edge_index[:, edge_index[0] == edge_index[1]]
        if loops.shape[1] == loops.unique(dim=1).shape[1]:  # torch gives a gradient to weights that are overwritten
            agree(ours, other, x, edge_index, weight)
        close(ours(x, edge_index, weight), other(x, edge_index, weight))


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("aggr", ["mean", "sum", "add", "min", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_sage_and_gin(kind, aggr, flow):
    edge_index, n = edges(kind)
    for options in ({}, {"normalize": True}, {"root_weight": False, "bias": False}):
        for widths in ((6, 3), (3, 6)):
            ours, other = both("SAGEConv", widths, {"aggr": aggr, "flow": flow, **options})
            agree(ours, other, features(n, widths[0]), edge_index)
    for train in (True, False):
        inner = torch.nn.Linear(4, 3, dtype=torch.float64)
        ours, other = both("GINConv", (inner,), {"aggr": aggr, "flow": flow, "eps": 0.3, "train_eps": train})
        agree(ours, other, features(n, 4), edge_index)


@pytest.mark.parametrize("aggr", ["min", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_wide_extremes(kind, aggr):
    """With so many columns that the argmax is recorded; a vertex without in-arcs has none."""
    edge_index, n = edges(kind)
    ours, other = both("SAGEConv", (24, 2), {"aggr": aggr})
    x = features(n, 24)
    agree(ours, other, x, edge_index)
    agree(ours, other, (x, features(n, 24, seed=2)), edge_index)


def test_sage_projects():
    edge_index, n = edges("random")
    ours, other = both("SAGEConv", (6, 3), {"project": True})
    agree(ours, other, features(n, 6), edge_index)


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"heads": 3, "negative_slope": 0.05},
        {"heads": 2, "concat": False, "bias": False},
        {"add_self_loops": False},
        {"heads": 2, "residual": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv"])
def test_gat(name, options, kind, flow):
    edge_index, n = edges(kind)
    x, edge_attr = features(n, 5), features(edge_index.shape[1], 4, seed=2)
    ours, other = both(name, (5, 3), {"flow": flow, **options})
    found, expected = agree(ours, other, x, edge_index, return_attention_weights=True)
    assert torch.equal(found[0], expected[0])
    close(found[1], expected[1])
    if edge_index.shape[1]:
        for fill in ("mean", "max", 0.5):
            ours, other = both(name, (5, 3), {"flow": flow, "edge_dim": 4, "fill_value": fill, **options})
            agree(ours, other, x, edge_index, edge_attr)


@pytest.mark.parametrize("fill", ["add", "min", "mul", torch.tensor([0.5, 1.0, -1.0, 2.0])], ids=str)
def test_features_of_self_loops(fill):
    edge_index, n = edges("hub")
    ours, other = both("GATConv", (5, 3), {"edge_dim": 4, "fill_value": fill})
    agree(ours, other, features(n, 5), edge_index, features(edge_index.shape[1], 4))


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"heads": 3},
        {"heads": 2, "concat": False},
        {"beta": True, "heads": 2},
        {"beta": True, "heads": 2, "concat": False},
        {"root_weight": False, "bias": False},
    ],
    ids=str,
)
def test_transformer(options, kind, flow):
    edge_index, n = edges(kind)
    ours, other = both("TransformerConv", (5, 3), {"flow": flow, **options})
    found, expected = agree(ours, other, features(n, 5), edge_index, return_attention_weights=True)
    assert torch.equal(found[0], expected[0])
    close(found[1], expected[1])
    ours, other = both("TransformerConv", (5, 3), {"flow": flow, "edge_dim": 4, **options})
    agree(ours, other, features(n, 5), edge_index, features(edge_index.shape[1], 4))


@pytest.mark.parametrize("sizes", [(12, 7), (7, 12)])
def test_two_sets_of_vertices(sizes):
    random = torch.Generator().manual_seed(3)
    edge_index = torch.stack([torch.randint(0, size, (40,), generator=random) for size in sizes])
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    edge_attr = features(40, 4, seed=4)
    for aggr in ("mean", "sum", "min", "max"):
        agree(*both("SAGEConv", ((4, 6), 3), {"aggr": aggr}), pair, edge_index)
        agree(*both("SAGEConv", ((4, 6), 3), {"aggr": aggr}), (pair[0], None), edge_index, sizes)
    agree(*both("GINConv", (torch.nn.Linear(4, 3, dtype=torch.float64),), {}), (pair[0], pair[1][:, :4]), edge_index)
    for loops in (True, False) if sizes[0] > sizes[1] else (False,):
        options = {"heads": 2, "add_self_loops": loops, "residual": True}
        agree(*both("GATConv", ((4, 6), 3), options), pair, edge_index)
        agree(
            *both("GATv2Conv", ((4, 6), 3), {**options, "edge_dim": 4, "fill_value": 1.0}), pair, edge_index, edge_attr
        )
    agree(*both("GATConv", ((4, 6), 3), {"add_self_loops": False}), (pair[0], None), edge_index, None, sizes)
    agree(*both("TransformerConv", ((4, 6), 3), {"heads": 2, "beta": True}), pair, edge_index)


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize("kind", ["empty", "loops", "random", "multi"])
def test_sparse_matrices(kind, layout):
    edge_index, n = edges(kind)
    adj, x = matrix(edge_index, n, layout), features(n, 5)
    for options in ({}, {"improved": True}, {"normalize": False}, {"add_self_loops": False}):
        agree(*both("GCNConv", (5, 3), options), x, adj)
    for aggr in ("mean", "sum", "min", "max"):
        if edge_index.shape[1]:
            agree(*both("SAGEConv", (5, 3), {"aggr": aggr}), x, adj)
    agree(*both("TransformerConv", (5, 3), {"heads": 2}), x, adj)
    for name in ("GATConv", "GATv2Conv") if edge_index.shape[1] else ():
        found, expected = agree(*both(name, (5, 3), {"heads": 2}), x, adj, return_attention_weights=True)
        close(found[1], expected[1])
        close(found[0].to_dense(), expected[0].to_dense())


def test_other_forms_of_the_same_edges():
    edge_index, n = edges("hub")
    x, weight = features(n, 5), features(edge_index.shape[1]).abs()
    graph = tg.Graph.from_edges(*edge_index, weight, num_vertices=n)
    stored = torch.stack((sorting.expand_rows(graph.offset), graph.neighbors.long()))
    edge_attr = features(edge_index.shape[1], 4)
    for flow in FLOWS:
        agree(*both("SAGEConv", (5, 3), {"flow": flow}), x, stored, given=graph)
        agree(*both("GATConv", (5, 3), {"flow": flow, "edge_dim": 4}), x, stored, edge_attr, given=graph)
        agree(*both("TransformerConv", (5, 3), {"flow": flow, "edge_dim": 4}), x, stored, edge_attr, given=graph)
        agree(*both("GCNConv", (5, 3), {"flow": flow}), x, edge_index.int(), given=edge_index)
    ours, other = both("GCNConv", (5, 3), {})
    close(ours(x, graph), other(x, stored, graph.weights))
    given = pyg.EdgeIndex(edge_index.contiguous(), sparse_size=(n, n))
    agree(ours, other, x, edge_index, given=given)
    undirected = graph.to_undirected()
    both_ways = torch.stack((sorting.expand_rows(undirected.offset), undirected.neighbors.long()))
    agree(*both("SAGEConv", (5, 3), {"aggr": "max"}), x, both_ways, given=undirected)
    agree(*both("GATv2Conv", (5, 3), {}), x, both_ways, given=undirected)


def test_static_graphs():
    edge_index, n = edges("hub")
    x = features(3, n, 5)
    agree(*both("GCNConv", (5, 3), {}), x, edge_index)
    agree(*both("SAGEConv", (5, 3), {"aggr": "max"}), x, edge_index)


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "TransformerConv"])
def test_widths_from_the_first_input(name):
    edge_index, n = edges("random")
    x = features(n, 5)
    ours, other = both_lazy(name)
    other(x, edge_index)
    ours.load_state_dict(other.state_dict())
    agree(ours, other, x, edge_index)
    ours, other = both_lazy(name)
    ours(x, edge_index)
    other.load_state_dict(ours.state_dict())
    agree(ours, other, x, edge_index)
    assert list(both_lazy(name)[0].state_dict()) == list(both_lazy(name)[1].state_dict())


def both_lazy(name):
    return built(tg.nn, name, (-1, 3), {}), built(theirs, name, (-1, 3), {})
