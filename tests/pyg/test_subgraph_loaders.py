"""Loaders whose batches are subgraphs: those of PyTorch Geometric."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import RandomNodeLoader as Reference
from torch_geometric.utils import k_hop_subgraph

import tgraph
from tgraph.pyg import ClusterData, ClusterLoader, RandomNodeLoader, ShaDowKHopSampler, ShaDowPPRSampler
from tgraph.sampling import PPRSampler


def graph(n=60, m=500):
    generator = torch.Generator().manual_seed(0)
    return Data(
        x=torch.rand(n, 3, generator=generator),
        y=torch.arange(n),
        edge_index=torch.randint(n, (2, m), generator=generator),
        edge_attr=torch.arange(m),
        name="a graph",
    )


def types():
    generator = torch.Generator().manual_seed(0)
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.arange(50), torch.arange(30)
    data["author", "paper"].edge_index = torch.stack(
        (torch.randint(30, (200,), generator=generator), torch.randint(50, (200,), generator=generator))
    )
    data["author", "paper"].edge_attr = torch.arange(200)
    data["paper", "paper"].edge_index = torch.randint(50, (2, 200), generator=generator)
    data["paper"].num_nodes = 50
    return data


@pytest.mark.parametrize("make", [graph, types])
def test_random_nodes_are_the_batches_of_pyg(make):
    data = make()
    loaders = []
    for loader in (RandomNodeLoader, Reference):
        torch.manual_seed(3)
        loaders.append(list(loader(data, num_parts=4, shuffle=True)))
    assert len(loaders[0]) == 4
    for found, expected in zip(*loaders, strict=True):
        found, expected = found.to_dict(), expected.to_dict()
        assert str(found) == str(expected)


def test_clusters_are_the_parts_and_the_edges_within():
    pytest.importorskip("pymetis")
    data = graph()
    clusters = ClusterData(data, num_parts=5, log=False)
    assert len(clusters) == 5 and sorted(torch.cat([part.y for part in clusters]).tolist()) == list(range(60))
    for batch in ClusterLoader(clusters, batch_size=2):
        assert torch.equal(batch.x, data.x[batch.y])
        assert torch.equal(batch.y[batch.edge_index], data.edge_index[:, batch.edge_attr])
        inside = torch.isin(data.edge_index, batch.y).all(0)
        assert batch.edge_attr.sort().values.tolist() == inside.nonzero().squeeze(1).tolist()


def test_whole_neighbourhoods_of_shadow():
    data = graph()
    loader = ShaDowKHopSampler(data, depth=2, num_neighbors=-1, node_idx=torch.tensor([7, 7, 30]), batch_size=3)
    (batch,) = loader
    for tree, seed in enumerate([7, 7, 30]):
        vertices, _, _, _ = k_hop_subgraph(seed, 2, data.edge_index)
        begin, end = batch.ptr[tree : tree + 2].tolist()
        assert torch.equal(batch.x[begin:end], data.x[vertices])
        assert batch.root_n_id[tree] == begin + int((vertices == seed).nonzero())
        inside = torch.isin(data.edge_index, vertices).all(0).nonzero().squeeze(1)
        of_tree = batch.batch[batch.edge_index[0]] == tree
        assert batch.edge_attr[of_tree].sort().values.tolist() == inside.tolist()
        ends = vertices[batch.edge_index[:, of_tree] - begin]
        assert torch.equal(ends, data.edge_index[:, batch.edge_attr[of_tree]])
    assert batch.y.tolist() == [7, 7, 30] and batch.name == "a graph"


def test_shadow_of_a_sparse_matrix():
    data = graph()
    pairs = data.edge_index.unique(dim=1)
    matrix = torch.sparse_coo_tensor(pairs.flip(0), torch.arange(pairs.shape[1]), (60, 60)).to_sparse_csr()
    options = {"depth": 2, "num_neighbors": 4, "batch_size": 30}
    torch.manual_seed(3)
    expected = list(ShaDowKHopSampler(Data(x=data.x, edge_index=pairs), **options))
    torch.manual_seed(3)
    found = list(ShaDowKHopSampler(Data(x=data.x, adj_t=matrix), **options))
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one.ptr, other.ptr) and torch.equal(one.x, other.x)
        entries = one.adj_t.to_sparse_coo().indices().flip(0)
        assert sorted(entries.t().tolist()) == sorted(other.edge_index.t().tolist())


def test_shadow_by_pagerank():
    data = graph()
    options = {"node_idx": torch.tensor([7, 30, 7]), "batch_size": 3}
    (batch,) = ShaDowPPRSampler(data, 6, **options)
    scores = PPRSampler(tgraph.Graph.from_edge_index(data.edge_index, num_nodes=60), 6).scores([7, 30, 7])
    for tree, seed in enumerate([7, 30, 7]):
        best = scores.neighbors[scores.offset[tree] : scores.offset[tree + 1]]
        vertices = torch.cat((best, torch.tensor([seed]))).sort().values
        begin, end = batch.ptr[tree : tree + 2].tolist()
        assert torch.equal(batch.x[begin:end], data.x[vertices])
        assert torch.equal(batch.x[batch.root_n_id[tree]], data.x[seed])
        inside = torch.isin(data.edge_index, vertices).all(0).nonzero().squeeze(1)
        assert batch.edge_attr[batch.batch[batch.edge_index[0]] == tree].sort().values.tolist() == inside.tolist()
    (whole,) = ShaDowPPRSampler(data, 1000, epsilon=1e-6, **options)
    assert len(whole.x) == 3 * len(k_hop_subgraph(7, 60, data.edge_index)[0])
