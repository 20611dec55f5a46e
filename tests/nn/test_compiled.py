"""Layers under torch.compile(fullgraph=True), given an edge_index of which nothing but the shape is known."""

import shutil

import pytest
import torch
from nn_samples import KINDS, agree, built, close, edges, features, layers

from tgraph import nn
from tgraph.errors import ArgumentError


def compiled(layer, backend="aot_eager", **options):
    torch._dynamo.reset()
    return torch.compile(layer, fullgraph=True, backend=backend, **options)


@pytest.mark.thorough
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{"improved": True}, {"aggr": "max", "flow": "target_to_source"}], ids=str)
def test_convolutions_of_graphs_with_loops(options, weighted):
    layer = built(nn, "GCNConv", (6, 3), options)
    once = compiled(layer, dynamic=True)
    for kind in KINDS:
        edge_index, n = edges(kind)
        weight = (features(edge_index.shape[1]).abs() + 0.1,) if weighted else ()
        x = features(n, 6)
        agree(once, layer, x, edge_index, *weight)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "fill", "flow"),
    [
        ("GATConv", "mean", "source_to_target"),
        ("GATConv", 0.5, "target_to_source"),
        ("GATConv", "mul", "target_to_source"),
        ("GATv2Conv", "max", "source_to_target"),
        ("GATv2Conv", "mean", "target_to_source"),
    ],
)
def test_features_of_edges_follow(name, fill, flow):
    layer = built(nn, name, (6, 3), {"edge_dim": 4, "fill_value": fill, "flow": flow, "heads": 2})
    once = compiled(layer, dynamic=True)
    for kind in ("loops", "hub"):
        edge_index, n = edges(kind)
        x, edge_attr = features(n, 6), features(edge_index.shape[1], 4, seed=2)
        agree(once, layer, x, edge_index, edge_attr)


@pytest.mark.parametrize(
    "options", [{}, pytest.param({"num_bases": 2, "aggr": "max"}, marks=pytest.mark.thorough)], ids=str
)
def test_relations(options):
    """Edges by relation, of numbers that no trace knows. An edge of no relation is told when the compiled code runs."""
    layer = built(nn, "RGCNConv", (6, 3, 3), options)
    once = compiled(layer, dynamic=True)
    for kind in ("loops", "hub"):
        edge_index, n = edges(kind)
        given = features(n, 6), edge_index, torch.arange(edge_index.shape[1]) % 3
        agree(once, layer, *given)
    with pytest.raises(RuntimeError, match="edge_type: expected relations from 0 to 2"):
        once(*given[:2], given[2] + 1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("sizes", [(12, 7), (7, 12)])
@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv"])
def test_two_sets_of_vertices(name, sizes):
    edge_index = torch.randint(0, 7, (2, 40), generator=torch.Generator().manual_seed(3))
    pair = features(sizes[0], 4), features(sizes[1], 6, seed=2)
    layer = built(nn, name, ((4, 6), 3), {"heads": 2, "residual": True})
    agree(compiled(layer), layer, pair, edge_index)


@pytest.mark.thorough
@pytest.mark.parametrize("name", layers())
def test_one_graph_serves_all_sizes(name):
    layer = layers()[name]
    once = compiled(layer, dynamic=True)
    torch._dynamo.utils.counters.clear()
    for kind in ("hub", "random", "loops"):
        edge_index, n = edges(kind)
        agree(once, layer, features(n, 6), edge_index)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


class SideBySide(torch.nn.ModuleList):
    """What several layers make of the same features."""

    def forward(self, x, edge_index):
        return torch.cat([layer(x, edge_index) for layer in self], 1)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="the inductor compiles C++")
def test_inductor(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    layer = SideBySide(layers().values())
    once = compiled(layer, "inductor", dynamic=True)
    for kind in ("hub", "loops"):
        edge_index, n = edges(kind)
        agree(once, layer, features(n, 6), edge_index)


@pytest.mark.parametrize("name", ["GATConv", pytest.param("GATv2Conv", marks=pytest.mark.thorough), "TransformerConv"])
def test_weights_come_back(name):
    edge_index, n = edges("loops")
    layer, x = layers()[name], features(n, 6)
    if name != "TransformerConv":
        with pytest.raises(Exception, match="the number of self-loops"):
            compiled(layer)(x, edge_index, return_attention_weights=True)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found, (ends, alpha) = compiled(layer)(x, edge_index, return_attention_weights=True)
    expected, (expected_ends, expected_alpha) = layer(x, edge_index, return_attention_weights=True)
    close(found, expected)
    close(alpha, expected_alpha)
    assert torch.equal(ends, expected_ends)


@pytest.mark.parametrize("name", ["GCNConv", pytest.param("SAGEConv", marks=pytest.mark.thorough), "GATConv"])
def test_ends_out_of_range_are_named(name):
    (edge_index, n), once = edges("loops"), compiled(layers()[name])
    for end, vertex in ((0, n), (1, n), (1, -1)):
        wrong = edge_index.clone()
        wrong[end, 1] = vertex
        with pytest.raises(ArgumentError, match=f"edge_index: the {('source', 'target')[end]} {vertex} of edge 1"):
            once(features(n, 6), wrong)
