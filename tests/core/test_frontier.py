"""A set of vertices in any of its forms is the same set."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph

import tgraph as tg
from tgraph.core.frontier import Frontier


@st.composite
def sets(draw):
    graph = draw(graphs())
    n = graph.num_vertices
    return graph, draw(st.sets(st.integers(0, n - 1))) if n else set()


def forms(graph, members):
    """By ids in any order, repeated ids, a mask, and everything or nothing where it fits."""
    n = graph.num_vertices
    ids = torch.tensor(sorted(members, reverse=True), dtype=torch.int64)
    yield graph.select(ids)
    yield graph.select(torch.cat((ids, ids)).to(torch.int32))
    yield graph.select(ids.tolist())
    yield graph.select(torch.tensor([v in members for v in range(n)], dtype=torch.bool))
    if len(members) == n:
        yield graph.everything()
    if not members:
        yield graph.nothing()


@given(sets())
def test_all_forms_agree(case):
    graph, members = case
    arcs = sum(int(graph.out_degree[v]) for v in members)
    for active in forms(graph, members):
        assert len(active) == active.size == len(members)
        assert active.num_arcs == arcs and active.measure() == (len(members), arcs)
        for vertex in range(graph.num_vertices):
            assert (vertex in active) == (vertex in members)
        assert sorted(active.ids.tolist()) == sorted(members) and active.ids.dtype == torch.int64
        assert active.mask.tolist() == [v in members for v in range(graph.num_vertices)]
        assert active.mask.dtype == torch.bool
        assert f"{len(members)} of {graph.num_vertices} vertices" in repr(active)
        for vertex in range(graph.num_vertices):  # again, now that both forms are there
            assert (vertex in active) == (vertex in members)


@given(sets(), st.data())
def test_compact_keeps_the_marked(case, data):
    graph, members = case
    candidates = torch.tensor(sorted(members), dtype=torch.int64)
    keep = data.draw(st.lists(st.booleans(), min_size=len(members), max_size=len(members)))
    active = Frontier.compact(graph, candidates, torch.tensor(keep, dtype=torch.bool))
    expected = [v for v, kept in zip(sorted(members), keep, strict=True) if kept]
    assert active.ids.tolist() == expected
    assert active.measure() == (len(expected), sum(int(graph.out_degree[v]) for v in expected))


def test_everything_is_never_written_out():
    graph = random_graph(5, 9)
    active = graph.everything()
    assert active.is_everything and active.measure() == (5, 9)
    assert active.ids.tolist() == [0, 1, 2, 3, 4]
    assert active._ids is None and active.is_everything
    assert not graph.select([0, 1, 2, 3, 4]).is_everything and not graph.nothing().is_everything


def test_repr_names_the_form():
    graph = tg.Graph.from_edges([0] * 1200, range(1, 1201))
    assert repr(graph.everything()) == "Frontier(1,201 of 1,201 vertices, 1,200 arcs, everything)"
    assert repr(graph.select(0)) == "Frontier(1 of 1,201 vertices, 1,200 arcs, ids)"
    assert repr(graph.select(torch.ones(1201, dtype=torch.bool))).endswith("mask)")
