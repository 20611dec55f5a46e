"""Searches from many sources at once: counts by level against single searches, compiled against portable."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, grid, on_threads, random_graph, same_on_threads

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import watched

level_counts, hops = tg.primitives.multi_source.level_counts, tg.primitives.multi_source.hops
lengths = tg.primitives.multi_source.lengths
WEIGHTS = (None, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64)


def one_by_one(graph, sources):
    depth = [tg.algorithms.bfs(graph, source) for source in sources]
    levels = max((int(d.max()) + 1 for d in depth), default=0)
    found = [d[d >= 0].bincount(minlength=levels) for d in depth]
    return torch.stack(found) if found else torch.zeros((0, 0), dtype=torch.int64)


@given(graphs(min_vertices=1), st.data())
def test_small_graphs(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=5))
    expected = one_by_one(graph, sources)
    for backend in ("auto", "portable"):
        assert torch.equal(level_counts(graph, sources, backend=backend), expected)
        for source, found in zip(sources, hops(graph, sources, backend=backend), strict=True):
            assert torch.equal(found, tg.algorithms.bfs(graph, source))


@given(graphs(min_vertices=1, dtypes=WEIGHTS), st.data())
def test_lengths_of_small_graphs(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=5))
    if graph.num_arcs and graph.weight_dtype == torch.float64 and data.draw(st.booleans()):
        graph = graph.weighted_by(graph.weights.index_fill(0, torch.tensor([graph.num_arcs // 2]), torch.inf))
    for backend in ("auto", "portable"):
        found = lengths(graph, sources, backend=backend)
        assert found.shape == (len(sources), graph.num_vertices)
        for source, row in zip(sources, found, strict=True):
            assert torch.equal(row, tg.algorithms.sssp(graph, source))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
@pytest.mark.parametrize("spread", [1, 1e6])
def test_lengths_have_the_bits_of_a_relaxation(dtype, spread):
    graph = random_graph(900, 4500, seed=3, dtype=torch.float64)
    graph = graph.weighted_by((graph.weights * graph.weights.new_tensor([1.0, spread]).repeat(2250)).to(dtype))
    with watched() as choices:
        found = same_on_threads(lambda: lengths(graph, range(0, 900, 30)))
    backend = "native" if native.load() else "portable"
    assert choices and all(choice.operator == "lengths" and choice.is_by(backend) for choice in choices)
    runs = tg.run_each([tg.algorithms.SSSP(source) for source in range(0, 900, 30)], graph)
    assert torch.equal(found, torch.stack([run.values for run in runs]))


@pytest.mark.covering(1)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("count", [1, 64, 65, 130, 257, 600])
def test_every_width_of_a_group(count, directed):
    graph = random_graph(900, 2500, seed=count, directed=directed)
    sources = torch.arange(count) * 7 % 900
    one = same_on_threads(lambda: level_counts(graph, sources))
    assert torch.equal(one, level_counts(graph, sources, backend="portable"))
    assert torch.equal(one[:, 0], torch.ones(count, dtype=torch.int64))
    expected = hops(graph, sources, backend="portable")
    assert all(torch.equal(found, expected) for found in on_threads(lambda: hops(graph, sources)))


def test_a_long_way():
    graph = grid(30, 40)
    found = level_counts(graph, range(1200))
    assert found.shape == (1200, 69) and torch.equal(found.sum(1), torch.full((1200,), 1200))
    assert torch.equal(found[::400], one_by_one(graph, [0, 400, 800]))


def test_sources_out_of_range():
    with pytest.raises(ArgumentError, match=r"sources.*1200"):
        level_counts(grid(30, 40), [1200])
    with pytest.raises(ArgumentError, match=r"weights: -1.0 at position 0"):
        lengths(tg.Graph.from_edges([0], [1], [-1.0]), [0])
