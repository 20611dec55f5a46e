"""Loaders with the names and the batches of PyTorch Geometric; its own tests run by `make pyg`."""

import pickle

import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.sampler import NodeSamplerInput

from tgraph import stores
from tgraph.core import dispatch
from tgraph.nn.edge_index import adjacency_of
from tgraph.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler


def graph(n=200, m=3000):
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(n, (2, m), generator=generator)
    features = torch.rand(n, 8, generator=generator)
    return Data(
        x=features,
        edge_index=edge_index,
        edge_attr=torch.arange(m),
        weight=torch.rand(m, generator=generator),
        y=torch.randint(3, (n,), generator=generator),
        time=torch.randint(50, (n,), generator=generator),
    )


def check(batch, data):
    """Vertices and edges of the data, with their features."""
    assert torch.equal(batch.x, data.x[batch.n_id])
    assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
    assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replace": True},
        {"disjoint": True},
        {"weight_attr": "weight"},
        {"time_attr": "time"},
        {"subgraph_type": "induced"},
        {"subgraph_type": "bidirectional"},
    ],
)
def test_batches_are_parts_of_the_data(options):
    data = graph()
    loader = NeighborLoader(data, [4, 3], batch_size=30, **options)
    with dispatch.watched() as choices:
        batches = list(loader)
    assert sum(choice.operator == "sample_neighbors" for choice in choices) == len(batches) == 7
    for batch in batches:
        if options.get("subgraph_type") != "bidirectional":
            check(batch, data)
        assert torch.equal(batch.n_id[: batch.batch_size], batch.input_id)
    assert torch.cat([batch.input_id for batch in batches]).tolist() == list(range(200))
    if "time_attr" in options:
        seed_time = data.time[batch.input_id]
        assert bool((data.time[batch.n_id] <= seed_time[batch.batch]).all())


def is_sorted(edge_index, sources, targets):
    """Whether layers have to sort nothing: edges are where they are in the rows."""
    return adjacency_of(edge_index, (sources, targets)).position is None


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"time_attr": "time"}, {"subgraph_type": "induced"}])
@pytest.mark.parametrize("workers", [0, 1])
def test_layers_sort_nothing_of_a_batch(options, workers):
    data = graph()
    for batch in NeighborLoader(data, [4, 3], batch_size=80, num_workers=workers, **options):
        assert is_sorted(batch.edge_index, batch.num_nodes, batch.num_nodes)
    links = {"edge_label_index": data.edge_index[:, :90], "neg_sampling": "binary", "num_workers": workers}
    for batch in LinkNeighborLoader(data, [4, 3], batch_size=30, **links):
        assert is_sorted(batch.edge_index, batch.num_nodes, batch.num_nodes)
    assert not is_sorted(data.edge_index, 200, 200)


def test_a_model_computes_as_on_the_whole_graph():
    data = graph()
    layer = SAGEConv(8, 4)
    expected = layer(data.x, data.edge_index)
    for batch in NeighborLoader(data, [-1], batch_size=64):
        found = layer(batch.x, batch.edge_index)[: batch.batch_size]
        torch.testing.assert_close(found, expected[batch.input_id])


def test_links():
    data = graph()
    loader = LinkNeighborLoader(
        data, [4, 3], edge_label_index=data.edge_index[:, :100], batch_size=25, neg_sampling="binary"
    )
    batches = list(loader)
    assert len(batches) == 4
    for batch in batches:
        check(batch, data)
        assert batch.edge_label.tolist() == [1] * 25 + [0] * 25
        ends = data.edge_index[:, batch.input_id]
        assert torch.equal(batch.n_id[batch.edge_label_index[:, :25]], ends)


def test_several_types():
    data = HeteroData()
    generator = torch.Generator().manual_seed(3)
    data["paper"].x, data["author"].x, data["venue"].x = torch.rand(50, 4), torch.rand(20, 3), torch.rand(5, 2)
    data["author", "writes", "paper"].edge_index = torch.stack(
        (torch.randint(20, (200,), generator=generator), torch.randint(50, (200,), generator=generator))
    )
    data["paper", "cites", "paper"].edge_index = torch.randint(50, (2, 300), generator=generator)
    for batch in NeighborLoader(data, [3, 2], input_nodes="paper", batch_size=10):
        for kind in data.edge_types:
            ends = batch[kind].edge_index
            found = torch.stack((batch[kind[0]].n_id[ends[0]], batch[kind[2]].n_id[ends[1]]))
            assert torch.equal(found, data[kind].edge_index[:, batch[kind].e_id])
            assert is_sorted(ends, *(batch[end].num_nodes for end in kind[::2]))
        assert torch.equal(batch["paper"].x, data["paper"].x[batch["paper"].n_id])
        assert len(batch["venue"].n_id) == 0 and batch["paper"].batch_size == 10


def test_the_sampler_serves_loaders_of_pyg():
    data = graph()
    loader = NodeLoader(data, NeighborSampler(data, [3]), batch_size=100)
    torch.manual_seed(1)
    first = [batch.e_id for batch in loader]
    torch.manual_seed(1)
    assert all(torch.equal(one, other.e_id) for one, other in zip(first, loader, strict=True))
    check(next(iter(loader)), data)


def test_arguments_by_position():
    data = graph()
    loader = NeighborLoader(data, [3], torch.tensor([5, 7]), None, True, batch_size=2)
    batch = next(iter(loader))
    assert batch.n_id[:2].tolist() == [5, 7] and loader.node_sampler.replace


@pytest.mark.parametrize("layout", ["csc", "coo"])
def test_workers_that_are_not_forked_are_sent_the_store_of_the_rows(layout, tmp_path):
    data = graph(200, 30_000)
    disk = stores.DiskStore(tmp_path)
    features, edges = stores.FeatureStore(disk), stores.GraphStore(disk)
    features[None, "x", None] = data.x
    rows = torch.stack((data.edge_index[0], data.edge_index[1]))[:, data.edge_index[1].argsort()]
    offset = torch.nn.functional.pad(rows[1].bincount(minlength=200).cumsum(0), (1, 0))
    ends = (rows[0], offset) if layout == "csc" else tuple(rows)
    edges.put_edge_index(ends, edge_type=None, layout=layout, size=(200, 200), is_sorted=True)
    sampler = NeighborSampler((features, edges), [3, 2], disjoint=True)
    sampler.num_neighbors = [4]
    sent = pickle.dumps(sampler)
    assert (len(sent) < 10_000) == (layout == "csc")
    other, seeds = pickle.loads(sent), NodeSamplerInput(None, torch.arange(5))
    torch.manual_seed(1)
    expected = sampler.sample_from_nodes(seeds)
    torch.manual_seed(1)
    found = other.sample_from_nodes(seeds)
    assert torch.equal(found.node, expected.node) and torch.equal(found.edge, expected.edge)
    assert len(found.num_sampled_nodes) == 2 and len(found.batch)
