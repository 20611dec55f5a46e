"""What layers keep with an edge_index or a graph, and when they compute it anew."""

import gc
import weakref

import pytest
import torch
from nn_samples import agree, built, close, edges, features

import tgraph as tg
from tgraph import nn
from tgraph.nn.edge_index import adjacency_of
from tgraph.nn.normalisation import gcn_norm


def test_edges_are_sorted_once():
    edge_index, n = edges("hub")
    first = adjacency_of(edge_index, (n, None))
    assert adjacency_of(edge_index, (n, None)) is first
    assert adjacency_of(edge_index, (n, n + 1)) is not first
    assert adjacency_of(edge_index, (n, None), "target_to_source") is not first
    assert adjacency_of(edge_index.clone(), (n, None)) is not first
    assert first.rows is first.rows
    assert first.columns is first.columns


def test_edges_changed_in_place_are_noticed():
    edge_index, n = edges("hub")
    layer, x = built(nn, "GATConv", (6, 3), {}), features(n, 6)
    before = layer(x, edge_index)
    edge_index[:, :20] = 0
    after = layer(x, edge_index)
    assert not torch.allclose(before, after)
    close(after, layer(x, edge_index.clone()))


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:.*sparse CSR")
def test_weights_changed_in_place_are_noticed():
    edge_index, n = edges("hub")
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    weight = features(edge_index.shape[1]).abs()
    before = layer(x, edge_index, weight)
    weight.square_()
    after = layer(x, edge_index, weight)
    assert not torch.allclose(before, after)
    close(after, layer(x, edge_index.clone(), weight.clone()))
    adj = torch.sparse_coo_tensor(edge_index.flip(0), weight, (n, n)).coalesce().to_sparse_csr()
    before = layer(x, adj)
    adj.values().mul_(torch.arange(len(adj.values())))
    after = layer(x, adj)
    assert not torch.allclose(before, after)
    close(after, layer(x, adj.clone()))


def test_normalised_weights_are_kept_with_what_they_come_of():
    edge_index, n = edges("hub")
    weight = features(edge_index.shape[1]).abs()
    held = adjacency_of(edge_index, (n, None))

    def norm(weight, loops="remaining", improved=False):
        return gcn_norm(held, weight, improved, loops, torch.float64)[1]

    assert norm(None) is norm(None)
    assert norm(None, None) is not norm(None)
    assert norm(weight) is norm(weight)
    assert norm(weight, improved=True) is not norm(weight)
    assert norm(weight.requires_grad_()) is not norm(weight)


def test_nothing_outlives_its_edges():
    edge_index, n = edges("hub")
    layer = built(nn, "GCNConv", (6, 3), {})
    layer(features(n, 6).requires_grad_(), edge_index).sum().backward()
    held = weakref.ref(adjacency_of(edge_index, (n, n)))
    del edge_index
    gc.collect()
    assert held() is None


def test_a_graph_keeps_what_is_derived_and_drops_it():
    edge_index, n = edges("hub")
    graph = tg.Graph.from_edges(*edge_index, num_vertices=n)
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    first = layer(x, graph)
    held = [name for name in graph.caches if name.startswith("nn ")]
    assert any("loops" in name for name in held)
    assert sum(graph.caches[name] for name in held) > 0
    graph.drop_caches()
    close(layer(x, graph), first)


def test_symmetric_edges_are_their_own_transpose():
    edge_index, n = edges("random")
    both = adjacency_of(torch.cat((edge_index, edge_index.flip(0)), 1), (n, None))
    assert both.columns is both.rows
    one = adjacency_of(edge_index, (n, None))
    assert one.columns is not one.rows
    over, weights = gcn_norm(both, None, False, "remaining", torch.float64)
    assert weights.transposed(over) is weights.values
    over, weights = gcn_norm(one, None, False, "remaining", torch.float64)
    close(weights.transposed(over), weights.values[over.rows.transpose_permutation])


def test_weights_of_a_graph_weigh_a_convolution():
    edge_index, n = edges("random")
    weight = features(edge_index.shape[1]).abs()
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    close(layer(x, tg.Graph.from_edges(*edge_index, weight, num_vertices=n)), layer(x, edge_index, weight))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("layout", ["virtual", "cbm"])
def test_layouts_serve_sums_without_being_decoded(layout, directed):
    edge_index, n = edges("random")
    keep = edge_index[0] != edge_index[1]
    plain = tg.Graph.from_edges(*edge_index[:, keep], num_vertices=n, directed=directed, multi="first")
    x = features(n, 6)
    for name, options in (("GCNConv", {}), ("GCNConv", {"add_self_loops": False}), ("SAGEConv", {}), ("GINConv", {})):
        inner = torch.nn.Linear(6, 3, dtype=torch.float64)
        layer = built(nn, name, (inner,) if name == "GINConv" else (6, 3), options)
        graph = plain.to_format(layout)
        agree(layer, layer, x, plain, given=graph)
        assert "arcs" not in graph.caches


def test_layouts_with_loops_are_decoded():
    edge_index, n = edges("loops")
    plain = tg.Graph.from_edges(*edge_index, num_vertices=n)
    layer, x = built(nn, "GCNConv", (6, 3), {}), features(n, 6)
    close(layer(x, plain.to_format("virtual")), layer(x, plain))
