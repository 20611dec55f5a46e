"""The steps of community detection: the graph of groups, numbers of groups, arcs inside, and what is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, grid, refused

import tgraph as tg

steps = tg.primitives.communities


@given(graphs(min_vertices=1, directed=False, dtypes=(None, torch.int64)), st.data())
def test_the_graph_of_groups_has_the_weights_between_them(graph, data):
    n = graph.num_vertices
    label = torch.tensor(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    group, first = steps.number(label)
    assert torch.equal(label[first][group], label) and first.tolist() == sorted(first.tolist())
    expected = {}
    for u, v, weight in arcs(graph):
        pair = int(group[u]), int(group[v])
        if pair[0] != pair[1]:
            expected[pair] = expected.get(pair, 0) + weight
    for name in ("auto", "portable"):
        assert torch.equal(steps.number(label, backend=name)[0], group)
        fine = steps.quotient(graph, weighted=graph.weights is not None, backend=name)
        coarse = steps.contract(fine, group, len(first), backend=name)
        src = torch.arange(len(first)).repeat_interleave(coarse.offset.diff()).tolist()
        found = dict(zip(zip(src, coarse.neighbors.tolist(), strict=True), coarse.weights.tolist(), strict=True))
        assert found == expected and float(coarse.out_strength.sum()) == fine.total


@given(graphs(dtypes=(None, torch.float32)))
def test_arcs_inside(graph):
    group, weighted = torch.arange(graph.num_vertices) // 3, graph.weights is not None
    expected = [0.0] * graph.num_vertices
    for u, v, weight in arcs(graph):
        expected[u] += weight * (2 if u == v and not graph.directed else 1) * (u // 3 == v // 3)
    for name in ("auto", "portable"):
        assert steps.inside(graph, group, weighted=weighted, backend=name).tolist() == pytest.approx(expected)


def test_groups_are_checked():
    held = steps.quotient(grid(2, 2))
    refused(r"community: 4 at position 3 is outside 0\.\.3", steps.move, held, torch.tensor([0, 1, 2, 4]))
    refused("bound: expected one for each of 4", steps.move, held, torch.arange(4), bound=torch.arange(3))
    refused("group: -1 at position 1", steps.contract, held, torch.tensor([0, -1, 0, 0]), 1)
    refused("label: expected int64", steps.number, torch.arange(4, dtype=torch.int32))
