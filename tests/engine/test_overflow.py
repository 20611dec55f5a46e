"""Relaxations on integers: every backend gives the exact result or names the sum that does not fit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from overflow_samples import outcome, programs, wanted
from strategies import MODES, Any

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError

BACKENDS = ["portable", *(["native"] if native.load() is not None else [])]


@settings(max_examples=3 * settings().max_examples)
@given(programs(), st.integers(0, 5) | st.sampled_from([40, 100]))
def test_so_many_rounds_are_exact_or_raise(given_program, rounds):
    graph, program, weights = given_program
    expected, program.rounds = wanted(graph, program, weights, rounds), rounds
    for backend in BACKENDS:
        for mode in MODES:
            found = outcome(program, graph, backend=backend, mode=mode, max_iterations=rounds + 1)
            assert found == expected, (backend, mode)


@settings(max_examples=2 * settings().max_examples)
@given(programs(grows=False))
def test_fixpoints_are_exact_or_raise(given_program):
    """In rounds and in the order of buckets, whichever their width."""
    graph, program, weights = given_program
    expected = wanted(graph, program, weights, graph.num_vertices + 1)
    for backend in BACKENDS:
        for delta in (None, 3, 2**40) if program.reduce == "min" else (None,):
            program.delta = delta
            assert outcome(program, graph, backend=backend) == expected, (backend, delta)


@given(programs(), st.sampled_from(["csr", "coo", "sell", "virtual"]), st.integers(0, 12), st.sampled_from(MODES))
def test_layouts_are_exact_or_raise(given_program, name, rounds, mode):
    graph, program, weights = given_program
    expected, program.rounds = wanted(graph, program, weights, rounds), rounds
    found = outcome(program, graph.to_format(name), mode=mode, max_iterations=rounds + 1)
    assert found == expected


def test_a_vertex_without_messages_keeps_its_value_in_a_layout():
    """It receives the least value of int64, whose absolute value is itself."""
    graph = tg.Graph.from_edges([0], [1], torch.tensor([5], dtype=torch.int32), num_vertices=2).to_format("coo")
    for dtype in (torch.int32, torch.int64):
        given = torch.tensor([torch.iinfo(dtype).min, 3], dtype=dtype)
        found = tg.run(Any("max", "add", given, rounds=1), graph, max_iterations=2).values
        assert found.tolist() == given.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_rounds_than_vertices(backend):
    """Once around the cycle and again: 64 bits hold what 32 do not."""
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    program = Any("max", "add", torch.tensor([0, 0, 0]), weight=10**8, rounds=100)
    assert tg.run(program, graph, backend=backend, max_iterations=200).values.tolist() == [100 * 10**8] * 3
    narrow = Any("max", "add", torch.zeros(3, dtype=torch.int32), weight=10**8, rounds=21)
    assert tg.run(narrow, graph, backend=backend, max_iterations=200).values.tolist() == [21 * 10**8] * 3
    narrow.rounds = 22
    fault = r"2100000000 \+ 100000000 on the arc 0 -> 1 does not fit torch.int32.*torch.int64"
    with pytest.raises(ArgumentError, match=fault):
        tg.run(narrow, graph, backend=backend, max_iterations=200)


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_identity_is_never_sent(backend):
    graph = tg.Graph.from_edges([0], [1], [5])
    info = torch.iinfo(torch.int64)
    values = torch.tensor([info.min, info.max])
    assert tg.run(Any("min", "add", values), graph, backend=backend).values.tolist() == [info.min, info.min + 5]
    values = torch.tensor([info.max - 9, info.min])
    assert tg.run(Any("max", "add", values), graph, backend=backend).values.tolist() == [info.max - 9, info.max - 4]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_arc_that_no_message_crosses_cannot_overflow(backend):
    """A large weight far from the values that are large, and longer paths than any there are."""
    large = torch.iinfo(torch.int64).max - 10
    graph = tg.Graph.from_edges([0, 2], [1, 3], [9, large])
    values = torch.tensor([large, large + 10, 1, large + 10])
    for mode in MODES:
        found = tg.run(Any("min", "add", values), graph, backend=backend, mode=mode).values
        assert found.tolist() == [large, large + 9, 1, large + 1]
    values[2] = 10
    with pytest.raises(ArgumentError, match=rf"10 \+ {large} on the arc 2 -> 3 does not fit torch.int64.*float64"):
        tg.run(Any("min", "add", values), graph, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_sums_overflow_at_the_last_arc_of_the_longest_path(backend, length):
    graph = tg.Graph.from_edges(range(length), range(1, length + 1))
    info = torch.iinfo(torch.int32)
    start = torch.tensor([info.max % length, *[info.max] * length], dtype=torch.int32)
    largest = (info.max - 1 - int(start[0])) // length
    found = tg.run(Any("min", "add", start, weight=largest), graph, backend=backend).values
    assert found.tolist() == [int(start[0]) + i * largest for i in range(length + 1)]
    with pytest.raises(ArgumentError, match=rf"on the arc {length - 1} -> {length} does not fit torch.int32"):
        tg.run(Any("min", "add", start, weight=largest + 1), graph, backend=backend)


@pytest.mark.parametrize("weight", [2**31, -(2**31) - 1, torch.tensor(2**40)])
def test_a_weight_that_the_values_cannot_hold(weight):
    graph = tg.Graph.from_edges([0], [1])
    with pytest.raises(ArgumentError, match=rf"weight: {int(weight)} does not fit torch.int32"):
        tg.run(Any("min", "max", torch.zeros(2, dtype=torch.int32), weight=weight), graph)
