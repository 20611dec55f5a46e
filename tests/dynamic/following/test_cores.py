"""Core numbers that follow a store, against a computation from nothing."""

import pytest
import torch
from batches_samples import MULTI, STEPS, compiled, followed, store_of
from hypothesis import given, settings

import tgraph as tg


def equal(found, expected, graph):
    assert torch.equal(found, expected(graph))


@pytest.mark.covering(1)
@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=min(25, settings().max_examples), deadline=None)
def test_core_numbers_are_those_from_nothing(directed, multi, steps):
    store = store_of(directed, multi, None)
    followers = [(tg.dynamic.follow(tg.dynamic.CoreNumbers(), store), tg.algorithms.core_number)]
    followed(store, steps, None, followers, equal)


@compiled
@pytest.mark.parametrize("directed", [True, False])
def test_cores_rise_by_several_levels_and_fall(directed):
    """A clique comes in one batch into a sparse graph, and goes edge by edge."""
    generator = torch.Generator().manual_seed(4)
    store = store_of(directed, "last", None, num_vertices=400)
    store.insert(*torch.randint(400, (2, 900), generator=generator))
    follower = tg.dynamic.follow(tg.dynamic.CoreNumbers(), store)
    assert torch.equal(follower.values, tg.algorithms.core_number(store.snapshot()))
    members = torch.randperm(400, generator=generator)[:12]
    pairs = torch.combinations(members, 2).T
    store.insert(*pairs)
    assert torch.equal(follower.values, tg.algorithms.core_number(store.snapshot()))
    assert int(follower.values.max()) >= 11
    for pair in pairs.split(7, 1):
        store.delete(*pair)
        store.insert(*torch.randint(400, (2, 3), generator=generator))
        assert torch.equal(follower.values, tg.algorithms.core_number(store.snapshot()))
        assert follower.statistics.recomputed is None
    assert follower.nbytes > 0
