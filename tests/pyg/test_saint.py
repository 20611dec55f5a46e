"""GraphSAINT's loaders: parts of the data, weighted by how often they are drawn."""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import GraphSAINTSampler

from tgraph.pyg import GraphSAINTEdgeSampler, GraphSAINTNodeSampler, GraphSAINTRandomWalkSampler

SAMPLERS = [
    (GraphSAINTNodeSampler, {}),
    (GraphSAINTEdgeSampler, {}),
    (GraphSAINTRandomWalkSampler, {"walk_length": 2}),
]


def graph(n=60, m=500):
    generator = torch.Generator().manual_seed(0)
    return Data(
        x=torch.arange(n), edge_index=torch.randint(n, (2, m), generator=generator), edge_attr=torch.arange(m), name="g"
    )


@pytest.mark.parametrize(("sampler", "options"), SAMPLERS)
def test_batches_have_all_edges_between_their_vertices(sampler, options):
    data = graph()
    loader = sampler(data, batch_size=10, num_steps=5, sample_coverage=20, log=False, **options)
    assert isinstance(loader, GraphSAINTSampler) and len(loader) == 5
    for batch in loader:
        assert batch.num_nodes == len(batch.x) and batch.name == "g"
        assert torch.equal(batch.x[batch.edge_index], data.edge_index[:, batch.edge_attr])
        inside = torch.isin(data.edge_index, batch.x).all(0).nonzero().squeeze(1)
        assert batch.edge_attr.sort().values.tolist() == inside.tolist()
        assert torch.equal(batch.node_norm, loader.node_norm[batch.x])
        assert torch.equal(batch.edge_norm, loader.edge_norm[batch.edge_attr])


def test_weighted_losses_are_that_of_the_whole_graph():
    data = graph()
    loader = GraphSAINTNodeSampler(data, batch_size=15, num_steps=400, sample_coverage=100, log=False)
    value = torch.rand(60)
    found = torch.stack([(batch.node_norm * value[batch.x]).sum() for batch in loader]).mean()
    assert found == pytest.approx(float(value.mean()), rel=0.05)


def test_norms_are_kept_in_a_file(tmp_path):
    options = {"batch_size": 6, "sample_coverage": 3, "save_dir": str(tmp_path), "log": False}
    first = GraphSAINTEdgeSampler(graph(), **options)
    again = GraphSAINTEdgeSampler(graph(), **options)
    assert torch.equal(first.node_norm, again.node_norm) and torch.equal(first.edge_norm, again.edge_norm)
