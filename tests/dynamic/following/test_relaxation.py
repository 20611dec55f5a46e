"""Relaxations and components that follow a store, against a computation from nothing: equal to the bit."""

import pytest
import torch
from batches_samples import MULTI, STEPS, compiled, followed, store_of
from hypothesis import given, settings

import tgraph as tg
from tgraph.core.dispatch import is_available
from tgraph.dynamic.following import follower as limits
from tgraph.dynamic.following import monotone
from tgraph.errors import ArgumentError, NotConvergedError


class Reliable(tg.Relaxation):
    """The probability of the most reliable path from vertex 0."""

    reduce, edge = "max", "mul"

    def init(self, graph):
        chance = torch.full((graph.num_vertices,), -torch.inf)
        chance[0] = 1
        return chance, graph.select(0)


class Lowest(tg.Relaxation):
    """The least weight on a walk from vertex 0: a message may be better than the value that it comes from."""

    reduce, edge = "min", "min"

    def init(self, graph):
        lowest = torch.full((graph.num_vertices,), torch.inf)
        lowest[0] = 5
        return lowest, graph.select(0)


class Highest(tg.Relaxation):
    """The largest number of a vertex that leads here, where arcs of large weight let less through."""

    reduce, edge = "min", "max"

    def init(self, graph):
        return torch.arange(graph.num_vertices, dtype=torch.float64).flip(0), graph.everything()


def result(program, graph):
    """The values from nothing, None where there are none."""
    try:
        return tg.run(program, graph).values
    except NotConvergedError:
        return None


def programs(directed, dtype):
    found = [tg.algorithms.BFS(0), tg.algorithms.SSSP(1), tg.algorithms.WCC()]
    if not directed:
        found.append(tg.algorithms.PlainWCC())
    if dtype is not None:
        found.append(tg.algorithms.WidestPath(0))
        if dtype.is_floating_point:
            found += [Reliable(), Lowest(), Highest()]
    return found


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [None, torch.int32, torch.float32])
@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=10, deadline=None)
def test_values_are_those_from_nothing(directed, multi, dtype, steps):
    store = store_of(directed, multi, dtype)
    followers = [(tg.dynamic.follow(program, store), program) for program in programs(directed, dtype)]
    for number, (step, arcs) in enumerate(steps):
        followed(store, [(step, arcs)], dtype, [], None)
        if step != "read" and number < len(steps) - 1:
            continue
        graph = store.snapshot()
        for follower, program in followers:
            if (expected := result(program, graph)) is not None:
                assert torch.equal(follower.values, expected), (type(program).__name__, follower.statistics)
                assert follower.values.dtype == expected.dtype


def test_without_kernels_values_are_computed_from_nothing(kernels):
    store = store_of(True, "last", torch.float32)
    follower = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    for src, dst, weight in [(0, 1, 2.0), (1, 2, 1.0), (0, 2, 4.0)]:
        store.insert([src], [dst], [weight])
    assert follower.values.tolist() == [0, 2, 3]
    store.delete([1], [2])
    assert follower.values.tolist() == [0, 2, 4]
    assert (follower.statistics.recomputed is None) == is_available("native")


def random_batches(vertices, count, seed, size=50):
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        ends = (torch.rand(2, size, generator=generator).square() * vertices).long()
        weights = torch.randint(1, 9, (size,), generator=generator) / 4
        yield "delete" if number % 3 == 2 else "insert", *ends, weights


@compiled
@pytest.mark.parametrize("directed", [True, False])
def test_large_graphs_are_followed_along_what_changes(directed):
    """Nothing is computed from nothing but the first values; a few vertices are looked at."""
    store = store_of(directed, "last", torch.float32, num_vertices=3000)
    generator = torch.Generator().manual_seed(5)
    src, dst = torch.randint(3000, (2, 30_000), generator=generator)
    store.insert(src, dst, torch.randint(1, 9, (30_000,), generator=generator) / 4)
    programs = [tg.algorithms.BFS(0), tg.algorithms.SSSP(0), tg.algorithms.WCC(), tg.algorithms.WidestPath(0)]
    followers = [(tg.dynamic.follow(program, store), program) for program in programs]
    for follower, _ in followers:
        assert follower.values is not None
    for step, first, second, weights in random_batches(3000, 12, seed=1):
        if step == "insert":
            store.insert(first, second, weights)
        else:
            place = torch.randint(30_000, (50,), generator=generator)
            store.delete(src[place], dst[place])
        for follower, program in followers:
            done = follower.update()
            if not isinstance(program, tg.algorithms.WidestPath):  # most of which hang on a few arcs of the source
                assert done.recomputed is None and done.touched < 1500
    graph = store.snapshot()
    for follower, program in followers:
        assert torch.equal(follower.values, tg.run(program, graph).values)
        assert follower.nbytes > 0


@compiled
def test_a_small_batch_does_not_merge_the_store():
    store = store_of(False, "last", None, num_vertices=100)
    store.insert(*torch.randint(100, (2, 500), generator=torch.Generator().manual_seed(0)))
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    assert follower.values is not None
    for number in range(5):
        store.insert([number], [99 - number])
        store.delete([number], [99 - number])
        assert follower.update().recomputed is None
        assert store._head.version._arcs is None


def test_a_chain_that_is_cut_and_mended():
    store = store_of(True, "last", None)
    store.insert(torch.arange(99), torch.arange(1, 100))
    depth = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    whole = tg.dynamic.follow(tg.algorithms.WCC(), store)
    assert depth.values.tolist() == list(range(100))
    assert whole.values.tolist() == [0] * 100
    store.delete([49], [50])
    assert depth.values.tolist() == list(range(50)) + [-1] * 50
    assert whole.values.tolist() == [0] * 50 + [50] * 50
    store.insert([10], [90])
    assert depth.values[90:].tolist() == list(range(11, 21))
    assert whole.values.tolist() == [0] * 100
    assert depth.values[50:90].tolist() == [-1] * 40


@compiled
def test_what_changes_a_lot_is_computed_from_nothing(monkeypatch):
    monkeypatch.setattr(limits, "LEAST", 4)
    monkeypatch.setattr(monotone, "LEAST", 4)
    store = store_of(False, "last", None)
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    store.insert(torch.arange(49), torch.arange(1, 50))
    assert follower.update().recomputed == "there were no values"
    store.insert(torch.arange(50, 99), torch.arange(51, 100))
    assert follower.update().recomputed == "many arcs changed"
    store.insert([49], [50])
    assert follower.update().recomputed == "many values changed"
    assert follower.values.tolist() == list(range(100))


def test_weights_that_a_program_refuses_are_refused():
    store = store_of(True, "last", torch.float32)
    follower = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    store.insert([0], [1], [1.0])
    assert follower.values.tolist()[:2] == [0, 1]
    store.insert([1], [2], [-1.0])
    with pytest.raises(ArgumentError, match="negative"):
        follower.values  # noqa: B018
    store.insert([1], [2], [7.0])
    assert follower.values.tolist() == [0, 1, 8]
    store.insert([1], [2], [torch.nan])
    with pytest.raises(ArgumentError, match="weights: nan at position 1"):
        follower.values  # noqa: B018


def test_integers_that_do_not_fit_are_refused_as_from_nothing():
    class Doubled(tg.Relaxation):
        reduce, edge = "max", "add"

        def init(self, graph):
            values = torch.full((graph.num_vertices,), torch.iinfo(torch.int32).min, dtype=torch.int32)
            values[0] = 2**31 - 5
            return values, graph.select(0)

    store = store_of(True, "last", torch.int32)
    store.insert([0], [1], [-3])
    follower = tg.dynamic.follow(Doubled(), store)
    assert follower.values[1] == 2**31 - 8
    store.insert([0], [2], [9])
    with pytest.raises(ArgumentError):
        tg.run(Doubled(), store.snapshot())
    with pytest.raises(ArgumentError):
        follower.values  # noqa: B018


@compiled
def test_new_vertices_and_ids_of_any_kind():
    store = tg.dynamic.Store(ids="any", directed=False)
    store.insert(["a", "b"], ["b", "c"])
    depth = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    component = tg.dynamic.follow(tg.algorithms.WCC(), store)
    for number in range(40):
        store.insert([f"x{number}"], [f"x{number - 1}" if number % 5 else "c"])
        graph = store.snapshot()
        assert torch.equal(depth.values, tg.algorithms.bfs(graph, 0))
        assert torch.equal(component.values, tg.algorithms.wcc(graph))
        assert number == 0 or depth.statistics.recomputed is None


class OfDegree(tg.Relaxation):
    reduce, edge = "min", "copy"

    def init(self, graph):
        return graph.out_degree.clone(), graph.everything()


class Silent(tg.Relaxation):
    reduce, edge = "min", "copy"

    def init(self, graph):
        return torch.arange(graph.num_vertices), graph.select(0)


class Stepping(tg.algorithms.BFS):
    def compute(self, sub, values, active):
        return super().compute(sub, values, active)


@compiled
@pytest.mark.parametrize(
    ("program", "said"),
    [
        (OfDegree(), "its first values depend on the arcs"),
        (Silent(), "not active at first have values that are not sent"),
        (Stepping(0), "Stepping cannot be followed: it has steps of its own"),
        (tg.algorithms.BFS(0, max_depth=2), "BFS cannot be followed: it ends after a number of rounds"),
        (tg.algorithms.BFS([0, 1]), "one number for each vertex is followed"),
    ],
)
def test_what_cannot_be_followed_is_refused_or_recomputed(program, said):
    store = store_of(True, "last", None)
    store.insert([0, 1], [1, 2])
    with pytest.raises(ArgumentError, match=said):
        tg.dynamic.follow(program, store).update()
    if "cannot be followed" in said:
        follower = tg.dynamic.follow(program, store, otherwise="recompute")
        for target in 2, 3:
            store.insert([0], [target])
            assert torch.equal(follower.values, tg.run(program, store.snapshot()).values)
        assert follower.statistics.recomputed in said


def test_what_a_subclass_makes_of_the_values_is_shown():
    class Far(tg.algorithms.BFS):
        def finish(self, values):
            found = super().finish(values)
            return found - found.max()

    store = store_of(True, "last", None)
    follower = tg.dynamic.follow(Far(0), store)
    for arcs in ([0], [1]), ([1], [2]), ([0], [2]):
        store.insert(*arcs)
        assert torch.equal(follower.values, tg.run(Far(0), store.snapshot()).values)
