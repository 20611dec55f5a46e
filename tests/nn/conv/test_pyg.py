"""Forward, gradients, parameters and printed form of every layer against PyTorch Geometric's, in float64."""

import copy
import itertools

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


def network(columns):
    parts = torch.nn.Linear(columns, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)
    return torch.nn.Sequential(*parts).double()


def around(name, nn, options):
    """Both layers with a network of their own."""
    ours, other = both(name, (nn,), options)
    other.nn = copy.deepcopy(nn)
    return ours, other


def crossed(**values):
    """All combinations of options."""
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


AGGRS = ("mean", "add", "min", "max")
AGGREGATORS = ["sum", "mean", "min", "max", "var", "std"]
SCALERS = ["identity", "amplification", "attenuation", "linear", "inverse_linear"]
DEGREES = torch.tensor([0, 3, 2, 1, 4])
ATTENTION = [
    *({}, {"heads": 3, "negative_slope": 0.05}, {"heads": 2, "concat": False, "bias": False}),
    *({"add_self_loops": False}, {"heads": 2, "residual": True}),
]
# By the name of a layer, its positional arguments, the first of which is a number of columns or a network, and options.
LAYERS = {
    "GCNConv": (
        [(6, 3), (3, 6)],
        [
            {"improved": True},
            {"add_self_loops": False},
            {"normalize": False},
            {"bias": False, "aggr": "mean"},
            {},
            {"aggr": "max"},
        ],
    ),
    "SAGEConv": (
        [(6, 3), (3, 6)],
        [
            {"aggr": aggr, **more}
            for aggr in (*AGGRS, "sum")
            for more in ({}, {"normalize": True}, {"root_weight": False, "bias": False})
        ],
    ),
    "GINConv": (
        [(torch.nn.Linear(4, 3, dtype=torch.float64),)],
        crossed(aggr=(*AGGRS, "sum"), train_eps=(True, False), eps=(0.3,)),
    ),
    "GATConv": ([(5, 3)], ATTENTION),
    "GATv2Conv": ([(5, 3)], ATTENTION),
    "TransformerConv": (
        [(5, 3)],
        [
            {},
            {"heads": 3},
            {"heads": 2, "concat": False},
            {"beta": True, "heads": 2},
            {"beta": True, "heads": 2, "concat": False},
            {"root_weight": False, "bias": False},
        ],
    ),
    "GraphConv": ([(6, 3), (3, 6)], crossed(aggr=AGGRS)),
    "SGConv": ([(6, 2), (3, 6)], [{}, {"K": 3}, {"K": 0}, {"add_self_loops": False, "bias": False}]),
    "APPNP": ([(3, 0.2)], [{}, {"normalize": False}, {"add_self_loops": False}, {"cached": True}]),
    "GINEConv": (
        [(network(4),)],
        [{"aggr": aggr, **more} for aggr in AGGRS for more in ({}, {"edge_dim": 3}, {"train_eps": True, "eps": 0.3})],
    ),
    "EdgeConv": (
        [(network(8),), (torch.nn.Linear(8, 3).double(),), (torch.nn.Sequential(torch.nn.Tanh(), network(8)),)],
        crossed(aggr=AGGRS),
    ),
    "ResGatedGraphConv": (
        [(5, 3)],
        [{}, {"root_weight": False, "bias": False}, {"aggr": "mean"}, {"act": torch.nn.Tanh()}],
    ),
    "RGCNConv": (
        [(6, 2, 3), (4, 6, 3)],
        [
            {},
            {"num_bases": 2},
            {"num_blocks": 2},
            {"aggr": "max", "root_weight": False},
            {"aggr": "add", "bias": False},
            {"num_bases": 2, "aggr": "min"},
        ],
    ),
    "PNAConv": (
        [(4, 6, AGGREGATORS, SCALERS, DEGREES)],
        [
            {},
            {"towers": 2},
            {"towers": 2, "divide_input": True, "post_layers": 2},
            {"pre_layers": 2, "act": "LeakyReLU", "act_kwargs": {"negative_slope": 0.3}},
            {"train_norm": True, "act": None},
        ],
    ),
}
WEIGHTED = ("GCNConv", "GraphConv", "SGConv", "APPNP")
ATTENTIVE = ("GATConv", "GATv2Conv", "TransformerConv")
CASES = [(name, options) for name, (_, several) in LAYERS.items() for options in several]


def types(edge_index, count=3):
    """Relations of which the last has no edges."""
    return torch.randint(0, count - 1, (edge_index.shape[1],), generator=torch.Generator().manual_seed(4))


@pytest.mark.covering(2)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_options(name, options, kind, flow, float64):
    edge_index, n = edges(kind)
    count, options = edge_index.shape[1], {"flow": flow, **options}
    for arguments in LAYERS[name][0]:
        columns = {"GINConv": 4, "GINEConv": 4, "EdgeConv": 4, "APPNP": 5}.get(name, arguments[0])
        make, x = (around if hasattr(arguments[0], "parameters") else both), features(n, columns)
        first = arguments[0] if make is around else arguments
        given = {"GINEConv": (features(count, options.get("edge_dim", 4)),), "RGCNConv": (types(edge_index),)}.get(
            name, ()
        )
        shown = {"return_attention_weights": True} if name in ATTENTIVE else {}
        found, expected = agree(*make(name, first, options), x, edge_index, *given, **shown)
        if name in ATTENTIVE:
            assert torch.equal(found[0], expected[0])
            close(found[1], expected[1])
        if name in WEIGHTED:
            weight = features(count) if name == "GraphConv" else features(count).abs() + 0.1
            loops = edge_index[:, edge_index[0] == edge_index[1]]
            if loops.shape[1] == loops.unique(dim=1).shape[1]:  # torch gives a gradient to weights that are overwritten
                agree(*both(name, arguments, options), x, edge_index, weight)
            ours, other = both(name, arguments, options)
            close(ours(x, edge_index, weight), other(x, edge_index, weight))
        for fill in ("mean", "max", 0.5) if name.startswith("GAT") and count else ():
            filled = {"edge_dim": 4, "fill_value": fill, **options}
            agree(*both(name, arguments, filled), x, edge_index, features(count, 4, seed=2))
        if name in ("TransformerConv", "ResGatedGraphConv", "PNAConv"):
            agree(*both(name, arguments, {"edge_dim": 3, **options}), x, edge_index, features(count, 3, seed=2))


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


@pytest.mark.parametrize("fill", ["add", "min", "mul", torch.tensor([0.5, 1.0, -1.0, 2.0])], ids=str)
def test_features_of_self_loops(fill):
    edge_index, n = edges("hub")
    ours, other = both("GATConv", (5, 3), {"edge_dim": 4, "fill_value": fill})
    agree(ours, other, features(n, 5), edge_index, features(edge_index.shape[1], 4))


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
