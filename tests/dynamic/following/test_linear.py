"""Linear systems that follow a store: within the error bound of their tolerance, and where they are refused."""

import pytest
import torch
from batches_samples import MULTI, STEPS, apply, compiled, store_of
from hypothesis import given, settings

import tgraph as tg
from tgraph.errors import ArgumentError, NotConvergedError

DAMPING, TOLERANCE = 0.85, 1e-7


def exact(graph, **options):
    return tg.algorithms.pagerank(graph, tol=1e-14, max_iterations=2000, dtype=torch.float64, **options)


def ranks(**options):
    return tg.algorithms.PageRank(tol=TOLERANCE, max_iterations=1000, dtype=torch.float64, **options)


def close(found, expected):
    """Within what an iteration that ends at the tolerance guarantees, and rounding."""
    assert found.dtype == expected.dtype
    assert float((found - expected).abs().sum()) <= TOLERANCE * DAMPING / (1 - DAMPING) + 1e-12


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [None, torch.float32])
@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=8, deadline=None)
def test_ranks_are_within_the_bound(directed, multi, dtype, steps):
    store = store_of(directed, multi, dtype)
    options = [{}, {"dangling": "ignore"}] + ([{"weighted": True}] if dtype is not None else [])
    followers = [(tg.dynamic.follow(ranks(**option), store), option) for option in options]
    for number, (step, arcs) in enumerate(steps):
        apply(store, step, arcs, dtype)
        if step != "read" and number < len(steps) - 1:
            continue
        graph = store.snapshot()
        for follower, option in followers:
            close(follower.values, exact(graph, **option))


@given(steps=STEPS)
@settings(max_examples=10, deadline=None)
def test_katz_centrality_is_within_its_tolerance(steps):
    store = store_of(True, "last", None)
    program = tg.algorithms.Katz(alpha=0.05, tol=1e-10, normalized=False)
    follower = tg.dynamic.follow(program, store)
    for step, arcs in steps:
        apply(store, step, arcs, None)
        expected = tg.algorithms.katz(store.snapshot(), alpha=0.05, tol=1e-13, normalized=False)
        assert torch.allclose(follower.values, expected, rtol=0, atol=1e-7)
    normed = tg.dynamic.follow(tg.algorithms.Katz(alpha=0.05, tol=1e-10), store).values
    assert torch.allclose(normed, expected / torch.linalg.vector_norm(expected), atol=1e-7)


@compiled
@pytest.mark.parametrize("directed", [True, False])
def test_large_graphs_go_on_from_the_last_ranks(directed):
    """Both by pushes and by iterations over the arcs of the CSR and the changes since; new vertices come."""
    generator = torch.Generator().manual_seed(2)
    store = store_of(directed, "last", torch.float32, num_vertices=2000)
    src, dst = torch.randint(2000, (2, 20_000), generator=generator)
    store.insert(src, dst, torch.rand(20_000, generator=generator))
    loose = tg.algorithms.PageRank(tol=1e-3, weighted=True, dtype=torch.float64)
    followers = [tg.dynamic.follow(program, store) for program in (ranks(weighted=True), loose)]
    for follower in followers:
        assert follower.update().recomputed == "there were no values"
    touched = []
    for number in range(10):
        if number % 3:
            place = torch.randint(20_000, (20,), generator=generator)
            store.delete(src[place], dst[place])
        else:
            ends = torch.randint(2000 + 10 * number, (2, 20), generator=generator)
            store.insert(*ends, torch.rand(20, generator=generator))
        if number == 5:
            store.compact()
        expected = exact(store.snapshot(), weighted=True)
        for follower, tolerance in zip(followers, (TOLERANCE, 1e-3), strict=True):
            assert follower.update().recomputed is None
            error = float((follower.values - expected).abs().sum())
            assert error <= tolerance * DAMPING / (1 - DAMPING) + 1e-12
        touched.append(followers[1].statistics.touched)
    assert min(touched) < 500


@compiled
def test_a_personalization_is_followed():
    store = store_of(True, "last", None, num_vertices=30)
    store.insert(*torch.randint(30, (2, 90), generator=torch.Generator().manual_seed(3)))
    jump = torch.arange(30.0)
    follower = tg.dynamic.follow(ranks(personalization=jump), store)
    for number in range(6):
        store.insert([number], [29 - number])
        store.delete([number], [number + 1])
        close(follower.values, exact(store.snapshot(), personalization=jump))
        assert number == 0 or follower.statistics.recomputed is None
    store.insert([30], [0])
    with pytest.raises(ArgumentError, match=r"personalization: expected \[31\]"):
        follower.values  # noqa: B018


def test_float_ranks_are_as_close_as_floats_are():
    store = store_of(False, "last", None)
    follower = tg.dynamic.follow(tg.algorithms.PageRank(), store)
    for number in range(10):
        store.insert([number, 0], [number + 1, number + 1])
        expected = exact(store.snapshot())
        assert follower.values.dtype == torch.float32
        assert float((follower.values - expected).abs().sum()) < 1e-5


@compiled
def test_weights_that_cancel_and_weights_that_are_refused():
    store = store_of(True, "sum", torch.float64)
    follower = tg.dynamic.follow(ranks(weighted=True), store)
    store.insert([0, 0, 1, 2], [1, 2, 2, 0], [0.1, 0.2, 1.0, 1.0])
    close(follower.values, exact(store.snapshot(), weighted=True))
    store.delete([0], [1])
    store.insert([0], [1], [1e-9])
    store.delete([0], [2])
    close(follower.values, exact(store.snapshot(), weighted=True))
    assert follower.statistics.recomputed == "sums of weights cancel"
    store.insert([1], [0], [-0.5])
    with pytest.raises(ArgumentError, match=r"weights: -0.5 at position \d, arc 1 -> 0; .* finite and not negative"):
        follower.values  # noqa: B018


def test_where_there_is_no_solution_within_the_iterations():
    store = store_of(True, "keep", None)
    store.insert([0, 1], [1, 0])
    follower = tg.dynamic.follow(tg.algorithms.Katz(alpha=0.5, max_iterations=200), store)
    assert torch.allclose(follower.values, tg.algorithms.katz(store.snapshot(), alpha=0.5), atol=1e-5)
    store.insert([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    with pytest.raises(NotConvergedError):
        follower.values  # noqa: B018
    store.delete([0], [1])
    assert torch.allclose(follower.values, tg.algorithms.katz(store.snapshot(), alpha=0.5), atol=1e-5)


@pytest.mark.parametrize(
    "program", [tg.algorithms.PageRank(tol=None), tg.algorithms.PlainPageRank(), tg.algorithms.HITS()]
)
def test_other_iterations_are_refused_or_recomputed(program):
    store = store_of(False, "last", None)
    store.insert([0, 1, 2], [1, 2, 0])
    with pytest.raises(ArgumentError, match="declares nothing in its method `followed`; say otherwise='recompute'"):
        tg.dynamic.follow(program, store)
    follower = tg.dynamic.follow(program, store, otherwise="recompute")
    store.insert([0], [3])
    expected = tg.run(program, store.snapshot()).values
    if isinstance(expected, dict):
        assert all(torch.equal(follower.values[name], value) for name, value in expected.items())
    else:
        assert torch.equal(follower.values, expected)


def test_a_subclass_with_other_steps_declares_nothing():
    class Slow(tg.algorithms.PageRank):
        def compute(self, sub, rank, active):
            return super().compute(sub, rank, active)

    with pytest.raises(ArgumentError, match="Slow cannot be followed"):
        tg.dynamic.follow(Slow(), store_of(True, "last", None))
