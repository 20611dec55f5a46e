"""Mistakes of users of the loaders: an ArgumentError names the argument, the value, its position and the remedy."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from tgraph import pyg, stores
from tgraph.errors import ArgumentError

EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])


def data(**changed):
    return Data(**{"x": torch.rand(5, 2), "edge_index": EDGES} | changed)


def of_types():
    held = HeteroData()
    held["paper"].x, held["author"].x = torch.rand(5, 2), torch.rand(3, 2)
    held["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2], [4, 3, 2]])
    return held


def in_stores(edges=True):
    features, graph = stores.FeatureStore(), stores.GraphStore()
    features[None, "x", None] = torch.rand(5, 2)
    if edges:
        graph[None, "coo", False, (5, 5)] = EDGES
    return features, graph


def edges_with(place, value):
    edges = EDGES.clone()
    edges[place] = value
    return edges


def nodes(held, num_neighbors=(2,), **options):
    return pyg.NeighborLoader(held, list(num_neighbors), **options)


def links(held, **options):
    return pyg.LinkNeighborLoader(held, [2], **options)


MISTAKES = {
    "end": (
        lambda: nodes(data(edge_index=edges_with((1, 2), 9))),
        r"edge_index\[1, 2\] is 9; vertices are 0 to 4.*give",
    ),
    "negative end": (lambda: nodes(data(edge_index=edges_with((0, 3), -1))), r"edge_index\[0, 3\] is -1"),
    "few vertices": (lambda: nodes(Data(edge_index=EDGES, num_nodes=2)), r"edge_index\[0, 2\] is 2.*num_nodes"),
    "edges turned": (lambda: nodes(data(edge_index=EDGES.t())), r"expected shape \[2, k\], got \[4, 2\].*t\(\)"),
    "edges of floats": (lambda: nodes(data(edge_index=EDGES.float())), r"edge_index: expected integers.*long\(\)"),
    "edges of numpy": (lambda: nodes(data(edge_index=EDGES.numpy())), r"edge_index: expected a tensor.*as_tensor"),
    "data set": (lambda: nodes([data()]), r"data: expected Data.*got list.*dataset\[0\]"),
    "short mask": (lambda: nodes(data(), input_nodes=torch.ones(3).bool()), r"a mask of 3 entries for 5 vertices"),
    "a number": (lambda: nodes(data(), input_nodes=3), r"input_nodes: expected a tensor, .*got int"),
    "a set": (lambda: nodes(data(), input_nodes={1, 2}), r"input_nodes: expected a tensor, .*got set"),
    "bytes": (lambda: nodes(data(), input_nodes=torch.ones(5).byte()), r"uint8 for each vertex .*use .bool\(\)"),
    "float seeds": (lambda: nodes(data(), input_nodes=torch.ones(3)), r"input_nodes: expected integers or a mask"),
    "seed": (lambda: nodes(data(), input_nodes=[0, 7]), r"input_nodes\[1\] is 7; vertices are 0 to 4"),
    "column of seeds": (
        lambda: nodes(data(), input_nodes=torch.zeros(2, 1).long()),
        r"\[k\], got \[2, 1\].*view\(-1\)",
    ),
    "fanout": (lambda: pyg.NeighborLoader(data(), 5), r"num_neighbors: expected integers by hop, got 5; \[5, 5\]"),
    "float fanout": (lambda: nodes(data(), [3, 2.5]), r"num_neighbors\[1\] is 2.5"),
    "weights": (lambda: nodes(data(), weight_attr="w"), r"weight_attr: the data has no 'w'; it has .*edge_index"),
    "few weights": (lambda: nodes(data(w=torch.ones(3)), weight_attr="w"), r"'w': 3 entries for 4 edges"),
    "weight": (lambda: nodes(data(w=EDGES[0] - 1.0), weight_attr="w"), r"weight_attr 'w'\[0\] is -1.0"),
    "times": (lambda: nodes(data(), time_attr="time"), r"time_attr: the data has no 'time'"),
    "no type": (lambda: nodes(of_types()), r"input_nodes: expected vertices, got None; give 'paper'"),
    "unknown type": (lambda: nodes(of_types(), input_nodes="venue"), r"of 'paper', 'author'.*got 'venue'"),
    "seed of type": (
        lambda: nodes(of_types(), input_nodes=("author", [3])),
        r"input_nodes\[0\] is 3; vertices are 0 to 2",
    ),
    "label end": (lambda: links(data(), edge_label_index=EDGES + 1), r"edge_label_index\[1, 3\] is 5"),
    "labels": (lambda: links(data(), edge_label=torch.ones(3)), r"edge_label: 3 entries for 4 edges"),
    "no edge type": (lambda: links(of_types()), r"edge_label_index: expected a type of edges of \('author', 'writes'"),
    "edge type": (lambda: links(of_types(), edge_label_index=("paper", "of", "author")), r"is not a type of edges"),
    "no edges stored": (lambda: nodes(in_stores(edges=False), input_nodes=torch.arange(5)), r"GraphStore has no edges"),
    "stores turned": (
        lambda: nodes(in_stores()[::-1]),
        r"\(FeatureStore, GraphStore\), in this order, got \(GraphStore",
    ),
    "no seeds of stores": (lambda: nodes(in_stores()), r"input_nodes: expected vertices, got None; give torch.arange"),
    "clusters": (lambda: pyg.ClusterData(data(), 6, log=False), r"num_parts: expected an integer from 1 to 5, got 6"),
    "no clusters": (lambda: pyg.ClusterLoader(data()), r"cluster_data: expected a ClusterData"),
    "parts": (lambda: pyg.RandomNodeLoader(data(), 0), r"num_parts: expected an integer of 1 or more, got 0"),
    "coverage": (
        lambda: pyg.GraphSAINTNodeSampler(data(), 2, sample_coverage=-1),
        r"sample_coverage: expected an integer of 0 or more, got -1",
    ),
    "walk": (lambda: pyg.GraphSAINTRandomWalkSampler(data(), 2, -2), r"walk_length: expected an integer of 0 or more"),
    "depth": (lambda: pyg.ShaDowKHopSampler(data(), -1, 2), r"depth: expected an integer of 0 or more, got -1"),
    "root": (lambda: pyg.ShaDowKHopSampler(data(), 1, 2, torch.tensor([9])), r"node_idx\[0\] is 9"),
    "budget": (lambda: pyg.HGTLoader(of_types(), 5, "paper"), r"num_samples: expected integers by hop, got 5"),
    "type of budget": (lambda: pyg.HGTLoader(of_types(), [5], "venue"), r"of 'paper', 'author'.*got 'venue'"),
    "url as store": (lambda: stores.FeatureStore("memory:"), r"store: expected a BlockStore.*stores.open"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    make, message = MISTAKES[mistake]
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_mask_may_be_of_numpy():
    mask = torch.tensor([False, True, False, True, True])
    for given in (mask, mask.numpy(), mask.tolist()):
        (batch,) = nodes(data(), input_nodes=given, batch_size=5)
        assert batch.n_id[: batch.batch_size].tolist() == [1, 3, 4]
        assert batch.input_id.tolist() == [1, 3, 4]
