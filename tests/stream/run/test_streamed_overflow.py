"""Relaxations on integers near their limits, on graphs that stream: exact, or an error."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from overflow_samples import outcome, programs, wanted
from strategies import MODES, Any
from streams import streamed

import tgraph as tg


@given(programs(), st.integers(0, 12), st.sampled_from(MODES))
def test_so_many_rounds_are_exact_or_raise(given_program, rounds, mode):
    graph, program, weights = given_program
    if not graph.num_arcs:
        return
    expected, program.rounds = wanted(graph, program, weights, rounds), rounds
    found = outcome(program, streamed(graph, 3, slack=10_000_000), mode=mode, max_iterations=rounds + 1)
    assert (
        found is None or found == expected
    )  # the arcs are not searched for one that does not fit: that one may will do


@given(programs(grows=False))
def test_blocks_in_an_order_of_their_own_are_exact_or_raise(given_program):
    graph, program, weights = given_program
    if graph.num_arcs:
        found = outcome(program, streamed(graph, 3, slack=10_000_000))
        assert found is None or found == wanted(graph, program, weights, graph.num_vertices + 1)


@pytest.mark.parametrize("edge", ["min", "copy"])
def test_the_largest_integers_travel(edge):
    """They are ranked as floating numbers, which round them up."""
    graph = tg.generators.grid2d(4, 4)
    info = torch.iinfo(torch.int64)
    values = torch.full((16,), info.min)
    values[5] = info.max
    assert tg.run(Any("max", edge, values, info.max), streamed(graph, 4)).values.tolist() == [info.max] * 16
