"""The loader that samples by budgets."""

import torch
from torch_geometric.data import HeteroData

from tgraph.nn.edge_index import adjacency_of
from tgraph.pyg import HGTLoader


def types():
    generator = torch.Generator().manual_seed(0)
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.arange(50), torch.arange(30)
    for kind, (sources, targets) in {("author", "paper"): (30, 50), ("paper", "author"): (50, 30)}.items():
        ends = [torch.randint(size, (200,), generator=generator) for size in (sources, targets)]
        data[kind].edge_index, data[kind].edge_attr = torch.stack(ends), torch.arange(200)
    return data


def test_batches_are_parts_of_the_data():
    data = types()
    loader = HGTLoader(data, [6, 4], input_nodes="paper", batch_size=10)
    assert len(loader) == 5
    for batch in loader:
        assert 10 < len(batch["paper"].x) <= 20 and 0 < len(batch["author"].x) <= 10
        assert batch["paper"].batch_size == 10 and torch.equal(batch["paper"].x[:10], batch["paper"].input_id)
        for kind in data.edge_types:
            row, col = batch[kind].edge_index
            ends = torch.stack((batch[kind[0]].x[row], batch[kind[2]].x[col]))
            assert torch.equal(ends, data[kind].edge_index[:, batch[kind].edge_attr])
            assert torch.equal(batch[kind].edge_attr, batch[kind].e_id)
            sizes = tuple(batch[end].num_nodes for end in kind[::2])
            assert adjacency_of(batch[kind].edge_index, sizes).position is None  # layers have nothing to sort
