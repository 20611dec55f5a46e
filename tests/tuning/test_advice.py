"""`advise` of a graph measures layouts, and recommends one by rule."""

import itertools

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.formats import LAYOUTS
from tgraph.tuning import layout_advice


def timer_of(milliseconds):
    """A timer that calls the function and takes its times from a list, CSR first."""
    times = iter(milliseconds)

    def timer(step):
        step()
        return next(times) / 1000

    return timer


def test_every_layout_is_measured_or_refused():
    graph = random_graph(200, 3000)
    found = tg.advise(graph, features=2)
    assert found.measured[0].layout == "csr"
    assert {m.layout for m in found.measured} | set(found.refused) == set(LAYOUTS)
    for measured in found.measured:
        assert measured.bytes_per_edge == graph.to_format(measured.layout).nbytes / graph.num_arcs
        assert 0 < measured.fill <= 1
        assert measured.milliseconds > 0 and measured.build_seconds >= 0
    assert found.arcs == graph.num_arcs and found.features == 2
    text = str(found)
    assert f"recommended: {found.recommended}" in text
    assert all(name in text for name in LAYOUTS)


@pytest.mark.parametrize(
    ("times", "recommended"),
    [
        ([1.0, 1.0, 1.0], "csr"),  # coo is larger, csr with small offsets little smaller
        ([2.0, 1.0, 2.0], "coo"),
        ([1.0, 5.0, 5.0], "csr"),
    ],
)
def test_the_smallest_of_the_fast_ones_is_recommended(times, recommended):
    graph = random_graph(50, 2000)
    found = tg.advise(graph, layouts=["coo", "csc"], timer=timer_of(times))
    assert found.recommended == recommended
    assert found.why


def test_build_costs_are_given_in_sums(monkeypatch):
    """Half a second in the clock's time, at a millisecond for each sum."""
    clock = itertools.count(0, 0.5)
    monkeypatch.setattr(layout_advice.time, "perf_counter", lambda: next(clock))
    found = tg.advise(random_graph(50, 2000), layouts=["coo"], timer=timer_of([2.0, 1.0]))
    assert found.why.endswith("sums that pay its build back: 500")


def test_dense_tiles_are_measured_and_others_refused_by_their_density():
    cliques = torch.block_diag(*[torch.ones(16, 16)] * 4).nonzero().T
    (_, measured) = tg.advise(tg.Graph.from_edges(*cliques), layouts=["wsb"]).measured
    assert measured.fill == 1 and measured.bytes_per_edge == (8 * 48 + 5 * 8) / 1024
    refused = tg.advise(tg.generators.grid2d(20, 20), layouts=["wsb"]).refused
    assert "a density of 0." in refused["wsb"]


def test_a_large_graph_is_sampled():
    graph = tg.generators.grid2d(100, 100)
    part = layout_advice.sampled(graph, 5000)
    assert 2500 < part.num_arcs < 6000
    assert layout_advice.sampled(graph, graph.num_arcs) is graph
    assert tg.advise(graph, layouts=["coo"], sample=5000).arcs == part.num_arcs


def test_a_graph_in_a_layout_is_advised_too():
    assert tg.advise(random_graph(50, 500).to_format("sell"), layouts=["dcsr"]).measured[0].layout == "csr"


def test_faults():
    with pytest.raises(ArgumentError, match="features: expected at least one, got 0"):
        tg.advise(random_graph(5, 5), features=0)
    with pytest.raises(ArgumentError, match=r"graph: expected a tgraph\.Graph or a torch\.nn\.Module, got list"):
        tg.advise([[0], [1]])


def test_empty_graphs():
    assert tg.advise(tg.Graph.from_edges([], [], num_vertices=0)).recommended
    assert tg.advise(tg.Graph.from_edges(torch.empty(0), torch.empty(0), num_vertices=3)).recommended
