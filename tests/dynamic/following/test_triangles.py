"""Triangles that follow a store, against a computation from nothing."""

import pytest
import torch
from batches_samples import MULTI, STEPS, compiled, followed, store_of
from hypothesis import given, settings

import tgraph as tg


def equal(found, per_vertex, graph):
    expected = tg.algorithms.triangle_count(graph, per_vertex=per_vertex)
    assert torch.equal(found, expected) if per_vertex else (found == expected and isinstance(found, int))


@pytest.mark.covering(1)
@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=min(20, settings().max_examples), deadline=None)
def test_triangles_are_those_from_nothing(directed, multi, steps):
    store = store_of(directed, multi, None)
    followers = [(tg.dynamic.follow(tg.dynamic.Triangles(each), store), each) for each in (True, False)]
    followed(store, steps, None, followers, equal)


@compiled
def test_large_rows_are_intersected():
    generator = torch.Generator().manual_seed(6)
    store = store_of(False, "last", None, num_vertices=300)
    src, dst = (torch.rand(2, 6000, generator=generator).square() * 300).long()
    store.insert(src, dst)
    follower = tg.dynamic.follow(tg.dynamic.Triangles(per_vertex=True), store)
    equal(follower.values, True, store.snapshot())
    for number in range(6):
        place = torch.randint(6000, (30,), generator=generator)
        store.delete(src[place], dst[place])
        store.insert(*torch.randint(310 + number, (2, 30), generator=generator))
        equal(follower.values, True, store.snapshot())
        assert follower.statistics.recomputed is None
    assert follower.nbytes > 0
