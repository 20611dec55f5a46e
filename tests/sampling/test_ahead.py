"""Batches that threads prepare ahead come in their order, and threads end with the loop."""

import threading

import pytest
import torch

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.sampling import ahead


def threads():
    return [each for each in threading.enumerate() if each.name.startswith("tgraph-ahead")]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_batches_are_those_of_the_loop(count):
    sampler = tg.sampling.NeighborSampler(tg.generators.rmat(8), [4, 3], seed=5)

    def batch(given):
        return sampler.sample(given[1], draw=given[0]).node

    seeds = torch.arange(250).split(20)
    found = list(ahead(batch, enumerate(seeds), count))
    assert len(found) == len(seeds)
    assert all(torch.equal(node, batch(given)) for node, given in zip(found, enumerate(seeds), strict=True))
    assert not threads()


def test_no_more_are_prepared_than_asked_for():
    begun = threading.Semaphore(0)
    taken = []

    def prepare(item):
        taken.append(item)
        begun.release()
        return item

    batches = ahead(prepare, iter(range(100)), 2)
    assert next(batches) == 0
    for _ in range(3):
        assert begun.acquire(timeout=30)
    assert sorted(taken) == [0, 1, 2] and len(threads()) <= 2
    batches.close()
    assert not threads()


def test_an_error_is_raised_in_the_place_of_its_batch():
    def prepare(item):
        if item == 3:
            raise KeyError("three")
        return item

    batches = ahead(prepare, range(9), 2)
    assert [next(batches) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="three"):
        next(batches)
    assert not threads()
    with pytest.raises(ArgumentError, match="count: expected batches ahead, 0 for none, got -1"):
        ahead(prepare, range(9), -1)
