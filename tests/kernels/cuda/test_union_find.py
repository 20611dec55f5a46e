"""Union-find by CUDA kernels, against the portable backend."""

import pytest
import torch
from backends import portable
from frontier_samples import awkward_graphs, with_index
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import components, graphs, random_graph

import tgraph as tg
from tgraph.kernels.cuda import union_find


def rows_of(graph, rows=None, width=None):
    return tg.reconstruct(graph, graph.everything(), rows, tg.neighbor_select(graph, rows, width=width))


@settings(max_examples=60)
@given(graph=graphs(), data=st.data())
def test_join_is_that_of_the_portable_backend(launcher, graph, data):
    n = graph.num_vertices
    chosen = st.none() if n == 0 else st.none() | st.lists(st.integers(0, n - 1), max_size=5)
    rows, width = data.draw(chosen), data.draw(st.none() | st.integers(0, 3))
    rows = None if rows is None else torch.tensor(rows, dtype=torch.int64)
    label = torch.tensor([data.draw(st.integers(0, v)) for v in range(n)], dtype=torch.int64)
    graph = with_index(graph, data.draw(st.sampled_from([torch.int32, torch.int64])))
    expected = label.clone()
    assert portable.join(rows_of(graph, rows, width), expected)
    for dtype in (torch.int32, torch.int64):
        for launcher.seed in (0, 1):
            found = label.to(launcher.device, dtype)
            there = None if rows is None else rows.to(launcher.device)
            assert union_find.join(rows_of(graph.to(launcher.device), there, width), found)
            assert found.cpu().equal(expected.to(dtype))


@pytest.mark.parametrize("name", awkward_graphs())
def test_components_of_graphs_of_extreme_shapes(launcher, name):
    graph = awkward_graphs()[name]
    expected = torch.tensor(components(graph), dtype=torch.int32)
    for launcher.seed in range(3):
        label = torch.arange(graph.num_vertices, dtype=torch.int32, device=launcher.device)
        assert union_find.join(rows_of(graph.to(launcher.device)), label) and label.cpu().equal(expected)


def test_components_of_a_path_whose_vertices_come_in_any_order(launcher):
    n = 3000
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    for path in (torch.arange(n), torch.arange(n).flip(0), order):
        graph = tg.Graph.from_edges(path[:-1], path[1:], num_vertices=n).to(launcher.device)
        label = torch.arange(n, device=launcher.device)
        assert union_find.join(rows_of(graph), label) and not label.any()


def test_components_as_afforest_finds_them(launcher, monkeypatch):
    """The algorithm itself, whose every step the kernels take."""
    monkeypatch.setattr(portable, "join", union_find.join)
    monkeypatch.setattr(portable, "outside", union_find.outside)
    for directed in (True, False):
        graph = random_graph(400, 500, directed=directed)
        found = tg.algorithms.wcc(graph.to(launcher.device), backend="portable")
        assert found.tolist() == components(graph)


@pytest.mark.parametrize("label", [[0, 2, 1], [0, -1, 0], [1, 1, 1]])
def test_labels_that_are_no_forest_are_left_alone(launcher, label):
    given_label = torch.tensor(label, device=launcher.device)
    assert not union_find.join(rows_of(random_graph(3, 5).to(launcher.device)), given_label)
    assert given_label.tolist() == label


@pytest.mark.parametrize("name", awkward_graphs())
def test_outside_is_that_of_the_portable_backend(launcher, name):
    graph = awkward_graphs()[name]
    for dtype in (torch.int32, torch.int64):
        label = (torch.arange(graph.num_vertices) % 5).to(dtype)
        for root, width in ((0, -1), (3, 2), (7, 0)):
            expected = portable.outside(rows_of(graph), label, root, width)
            found = union_find.outside(rows_of(graph.to(launcher.device)), label.to(launcher.device), root, width)
            assert found.ids.cpu().equal(expected.ids) and found.measure() == expected.measure()
