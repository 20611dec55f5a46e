"""What rows send, block by block, compiled against torch, and a graph of out-arcs alone against one with both."""

import pytest
import torch
from strategies import random_graph
from streams import loads, streamed

import tgraph as tg
from tgraph.kernels.operators.aggregation.rows import send_rows
from tgraph.kernels.reductions import REDUCTIONS


def rows(vertices, arcs, index, generator):
    """Ascending rows of a few vertices, one of them much longer: (offset, neighbors)."""
    src = (torch.rand(arcs, generator=generator) ** 3 * vertices).long().sort().values
    dst = (torch.rand(arcs, generator=generator) ** 2 * vertices).long()
    order = (src * vertices + dst).sort().indices
    degree = torch.bincount(src, minlength=vertices)
    return torch.cat((degree.new_zeros(1), degree.cumsum(0))), dst[order].to(index)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("edge", ["copy", "mul"])
@pytest.mark.parametrize("arcs", [0, 1, 300, 300_000])
def test_sums_are_those_of_torch_in_the_order_of_arcs(arcs, edge, dtype, index, monkeypatch):
    """To the bit: a sum is added to in one order, by any number of threads."""
    draw = torch.Generator().manual_seed(arcs)
    offset, neighbors = rows(1000, arcs, index, draw)
    data, weights = torch.rand(1000, 1, generator=draw).to(dtype), torch.rand(arcs, generator=draw).to(dtype)
    found = {}
    for native in ("1", "0"):
        monkeypatch.setenv("TGRAPH_NATIVE", native)
        found[native] = torch.ones(1000, 1, dtype=torch.float64)
        send_rows(offset, neighbors, weights, data, REDUCTIONS["sum"], edge, found[native])
    assert torch.equal(found["1"], found["0"])
    assert not arcs or not torch.equal(found["1"], torch.ones(1000, 1, dtype=torch.float64))


@pytest.fixture
def out_arcs(monkeypatch):
    """Sources of blocks that have out-arcs alone."""
    from tgraph.stream.run.host import HostBlocks

    monkeypatch.setattr(HostBlocks, "pushes", True)


@pytest.mark.covering(1)
@pytest.mark.parametrize("blocks", [1, 7, 40])
@pytest.mark.parametrize("dtype", [None, torch.int32, torch.float64])
def test_in_arcs_receive_what_rows_send(out_arcs, dtype, blocks):
    graph = random_graph(60, 400, dtype=dtype)
    graph = tg.Graph(graph.offset, graph.neighbors, graph.weights)
    held, data = streamed(graph, blocks, slack=20_000), torch.rand(60, 3, generator=torch.Generator().manual_seed(2))
    pushed = held.transpose()
    for reduce in ("sum", "mean", "min", "max"):
        for edge in ("copy",) if dtype is None else ("copy", "mul", "add"):
            wanted = tg.aggregate(graph, data, reduce, edge=edge)
            torch.testing.assert_close(tg.aggregate(held, data, reduce, edge=edge), wanted)
    before = loads(held)
    torch.testing.assert_close(tg.algorithms.pagerank(held), tg.algorithms.pagerank(graph))
    assert loads(held) >= max(before, blocks) and torch.equal(held.in_degree, graph.in_degree)
    assert torch.equal(pushed.out_degree, graph.in_degree) and pushed.num_arcs == graph.num_arcs
    assert "section" not in pushed.layout.__dict__, "in-arcs were read as rows"
    found, wanted = pushed.to_csr(), graph.transpose().to_csr()
    assert torch.equal(found.offset, wanted.offset)
    assert pushed.transpose().layout is held.layout


def test_sums_of_narrow_floats_do_not_stop_growing(out_arcs):
    spokes = torch.arange(1, 600)
    graph = tg.Graph.from_edges(spokes, torch.zeros_like(spokes))
    ones = torch.ones(600, 1, dtype=torch.bfloat16)
    assert tg.aggregate(streamed(graph, 9), ones, "sum")[0] == torch.tensor(599).to(torch.bfloat16)
