"""Core numbers and triangles that follow a store, against a computation from nothing."""

import pytest
import torch
from batches_samples import MULTI, STEPS, compiled, followed, store_of
from hypothesis import given, settings

import tgraph as tg
from tgraph.algorithms import core_number, triangle_count

# By the program that is followed, what computes the same from nothing.
EXPECTED = {
    tg.dynamic.CoreNumbers(): core_number,
    tg.dynamic.Triangles(per_vertex=True): lambda graph: triangle_count(graph, per_vertex=True),
    tg.dynamic.Triangles(per_vertex=False): triangle_count,
}


def equal(found, expected, graph):
    wanted = expected(graph)
    assert type(found) is type(wanted)
    assert torch.equal(found, wanted) if isinstance(wanted, torch.Tensor) else found == wanted


@pytest.mark.covering(1)
@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=min(25, settings().max_examples), deadline=None)
def test_counts_are_those_from_nothing(directed, multi, steps):
    store = store_of(directed, multi, None)
    followers = [(tg.dynamic.follow(program, store), expected) for program, expected in EXPECTED.items()]
    followed(store, steps, None, followers, equal)


@compiled
@pytest.mark.parametrize("directed", [True, False])
def test_cores_rise_by_several_levels_and_fall(directed):
    """A clique comes in one batch into a sparse graph, and goes edge by edge."""
    generator = torch.Generator().manual_seed(4)
    store = store_of(directed, "last", None, num_vertices=400)
    store.insert(*torch.randint(400, (2, 900), generator=generator))
    follower = tg.dynamic.follow(tg.dynamic.CoreNumbers(), store)
    assert torch.equal(follower.values, core_number(store.snapshot()))
    members = torch.randperm(400, generator=generator)[:12]
    pairs = torch.combinations(members, 2).T
    store.insert(*pairs)
    assert torch.equal(follower.values, core_number(store.snapshot()))
    assert int(follower.values.max()) >= 11
    for pair in pairs.split(7, 1):
        store.delete(*pair)
        store.insert(*torch.randint(400, (2, 3), generator=generator))
        assert torch.equal(follower.values, core_number(store.snapshot()))
        assert follower.statistics.recomputed is None
    assert follower.nbytes > 0


@compiled
def test_large_rows_are_intersected():
    generator = torch.Generator().manual_seed(6)
    store = store_of(False, "last", None, num_vertices=300)
    src, dst = (torch.rand(2, 6000, generator=generator).square() * 300).long()
    store.insert(src, dst)
    follower = tg.dynamic.follow(tg.dynamic.Triangles(per_vertex=True), store)
    assert torch.equal(follower.values, triangle_count(store.snapshot(), per_vertex=True))
    for number in range(6):
        place = torch.randint(6000, (30,), generator=generator)
        store.delete(src[place], dst[place])
        store.insert(*torch.randint(310 + number, (2, 30), generator=generator))
        assert torch.equal(follower.values, triangle_count(store.snapshot(), per_vertex=True))
        assert follower.statistics.recomputed is None
    assert follower.nbytes > 0
