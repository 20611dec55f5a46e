"""Blocks: what a model computes layer by layer on them is what it computes on the whole graph."""

import pytest
import torch
from strategies import random_graph, refused

import tgraph as tg
from tgraph.sampling import NeighborSampler, blocks


def mean(csr, x):
    """The mean of what each row receives."""
    total = torch.zeros(csr.num_rows, x.shape[1], dtype=x.dtype).index_add_(
        0, csr.row_of_arc(), x[csr.neighbors.long()]
    )
    return total / csr.offset.diff().clamp(min=1)[:, None]


@pytest.mark.parametrize("seeds", [[3, 7, 50], [3, 3, 9], []])
@pytest.mark.parametrize("disjoint", [False, True])
def test_layers_on_blocks_of_all_neighbours(seeds, disjoint):
    graph = random_graph(80, 400, directed=True)
    x = torch.rand(80, 3, dtype=torch.float64)
    sample = NeighborSampler(graph, [-1, -1, -1], disjoint=disjoint).sample(torch.tensor(seeds, dtype=torch.int64))
    found = blocks(sample)
    assert len(found) == 3 and found[-1].destination.tolist() == seeds
    reverse = graph.transpose()
    whole = tg.sampling.blocks(NeighborSampler(graph, [-1]).sample(torch.arange(80)))[0].csr
    assert torch.equal(whole.offset, reverse.offset)
    expected, hidden = x, x[found[0].source]
    source = torch.arange(80).repeat_interleave(graph.out_degree)
    for block in found:
        assert torch.equal(block.source[: len(block.destination)], block.destination)
        assert block.csr.num_columns == len(block.source) and block.csr.num_rows == len(block.destination)
        assert torch.equal(block.source[block.csr.neighbors], source[block.edge])
        expected, hidden = mean(whole, expected), mean(block.csr, hidden)
    torch.testing.assert_close(hidden, expected[torch.tensor(seeds, dtype=torch.int64)])


def test_blocks_share_the_memory_of_the_sample():
    sample = NeighborSampler(random_graph(80, 400), [3, 2]).sample([1, 2])
    first, last = blocks(sample)
    assert first.csr.neighbors.data_ptr() == last.csr.neighbors.data_ptr() == sample.row.data_ptr()
    assert [first.csr.num_arcs, last.csr.num_arcs] == [len(sample.row), sample.num_sampled_edges[0]]


def test_several_types():
    generator = torch.Generator().manual_seed(0)
    ends = lambda rows, columns: torch.stack(  # noqa: E731
        (torch.randint(rows, (60,), generator=generator), torch.randint(columns, (60,), generator=generator))
    )
    edges = {("author", "writes", "paper"): ends(8, 20), ("paper", "cites", "paper"): ends(20, 20)}
    graphs = {}
    for kind, (source, target) in edges.items():
        order = target.argsort(stable=True)
        offset = torch.searchsorted(target[order], torch.arange(21))
        graphs[kind] = tg.core.csr.Csr(offset, source[order], order, 8 if kind[0] == "author" else 20)
    found = blocks(NeighborSampler(graphs, [4, 3], seed=1).sample({"paper": torch.tensor([3, 5])}))
    assert found[-1].destination["paper"].tolist() == [3, 5] and len(found[-1].destination["author"]) == 0
    for block in found:
        for kind, (source, target) in edges.items():
            csr = block.csr[kind]
            assert torch.equal(block.source[kind[0]][csr.neighbors], source[block.edge[kind]])
            assert torch.equal(block.destination[kind[2]][csr.row_of_arc()], target[block.edge[kind]])


def test_refusals():
    graph = random_graph(80, 400, directed=True)
    refused("induced=False", blocks, NeighborSampler(graph, [3], induced=True).sample([1, 2]))
    refused("direction='in'", blocks, NeighborSampler(graph, [3, 3], direction="out").sample([1, 2, 3, 4]))
