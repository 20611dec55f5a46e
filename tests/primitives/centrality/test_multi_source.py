"""Searches from many sources at once: counts by level against single searches, compiled against portable."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, grid, on_threads, random_graph, same_on_threads

import tgraph as tg
from tgraph.errors import ArgumentError

level_counts, hops = tg.primitives.multi_source.level_counts, tg.primitives.multi_source.hops


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
