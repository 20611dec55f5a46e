"""What all followers share: when they work, what they say, and who holds them."""

import gc
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from batches_samples import compiled

import tgraph as tg
from tgraph.dynamic.following import follower as limits
from tgraph.errors import ArgumentError

MESSAGES = Path(__file__).parents[4] / "shared" / "data" / "CollegeMsg" / "CollegeMsg.txt.gz"


@compiled
def test_nothing_is_done_before_values_are_asked_for():
    store = tg.dynamic.Store()
    store.insert([0, 1], [1, 2])
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    assert follower.version is None and follower.statistics is None
    assert follower.values.tolist() == [0, 1, 2]
    assert follower.statistics == tg.dynamic.Update(1, 1, 0, 3, "there were no values")
    store.insert([0], [2])
    store.insert([2], [3])
    store.insert([], [])
    assert follower.version == 1
    assert follower.values.tolist() == [0, 1, 1, 2]
    done = follower.statistics
    assert (done.version, done.batches, done.changes, done.recomputed) == (4, 3, 2, None)
    assert follower.update() is done


def test_values_belong_to_the_follower():
    store = tg.dynamic.Store()
    store.insert([0, 1], [1, 2])
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    first = follower.values
    kept = first.clone()
    store.insert([0], [2])
    assert follower.values.tolist() == [0, 1, 1]
    assert kept.tolist() == [0, 1, 2]


def test_a_store_does_not_hold_its_followers():
    store = tg.dynamic.Store()
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    seen = weakref.ref(follower)
    del follower
    gc.collect()
    assert seen() is None
    store.insert([0], [1])


@compiled
def test_reversed_arcs_count_among_its_bytes():
    """Deletions need them in a directed graph; in an undirected one they are the arcs themselves."""
    src, dst = torch.randint(2000, (2, 50_000), generator=torch.Generator().manual_seed(0))
    grown = {}
    for directed in (True, False):
        store = tg.dynamic.Store(directed=directed)
        store.insert(src, dst)
        store.compact()
        follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
        follower.update()
        before = follower.nbytes
        store.delete(src[:1], dst[:1])
        follower.update()
        grown[directed] = follower.nbytes - before
    assert grown[True] - grown[False] > 4 * 45_000 > grown[False]


def test_runs_that_are_too_many_are_not_kept(monkeypatch):
    monkeypatch.setattr(limits, "LEAST", 100)
    store = tg.dynamic.Store()
    store.insert([0], [1])
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    assert follower.values.tolist() == [0, 1]
    for number in range(30):
        store.insert(torch.arange(10) + number, torch.arange(10) + number + 1)
    assert sum(run.size for run in follower._runs) <= 100
    assert follower.values.tolist() == list(range(40))
    assert follower.statistics.recomputed == "many arcs changed"


def test_followers_are_read_beside_writers():
    """A path that grows at its end, and is cut and mended; each reading is of one version."""
    store, faults, done = tg.dynamic.Store(), [], threading.Event()
    store.insert([0], [1])
    follower = tg.dynamic.follow(tg.algorithms.BFS(0), store)

    def write():
        for vertex in range(1, 300):
            store.insert([vertex], [vertex + 1])
            store.delete([0], [1])
            store.insert([0], [1])
        done.set()

    def read():
        while not done.is_set():
            with follower._updating:
                follower._update()
                depth = follower._finished().clone()
            whole = depth.tolist() == list(range(len(depth)))
            cut = depth.tolist() == [0] + [-1] * (len(depth) - 1)
            if not (whole or cut):
                faults.append(depth)

    threads = [threading.Thread(target=target) for target in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert follower.values.tolist() == list(range(301))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda store: tg.dynamic.follow(tg.algorithms.BFS, store), "program: expected an instance of a Program"),
        (lambda store: tg.dynamic.follow(tg.algorithms.BFS(0), store.snapshot()), "store: expected a tgraph.dynamic"),
        (lambda store: tg.dynamic.follow(tg.algorithms.BFS(0), store, otherwise="no"), "otherwise: 'no' is not one of"),
        (lambda store: tg.dynamic.follow(tg.algorithms.BFS(7), store).values, "source: 7 at position 0 is no vertex"),
    ],
)
def test_mistakes_are_named(call, said):
    store = tg.dynamic.Store()
    store.insert([0], [1])
    with pytest.raises(ArgumentError, match=said):
        call(store)


def test_weights_of_few_bits_are_computed_from_nothing():
    store = tg.dynamic.Store(torch.float16)
    with pytest.raises(ArgumentError, match=r"the store has weights of torch\.float16"):
        tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    follower = tg.dynamic.follow(tg.algorithms.SSSP(0), store, otherwise="recompute")
    store.insert([0], [1], [2.0])
    assert follower.values.tolist() == [0, 2]


@compiled
@pytest.mark.skipif(not MESSAGES.exists(), reason="CollegeMsg is not in ../shared/data")
@pytest.mark.parametrize("directed", [True, False])
def test_messages_of_a_college_are_followed(directed):
    """In order of time, old ones deleted; everything against a computation from nothing."""
    source, target, _ = torch.from_numpy(np.loadtxt(MESSAGES, dtype=np.int64)).T.contiguous()
    store = tg.dynamic.Store(torch.float32, directed=directed, multi="sum", ids="any")
    programs = {
        tg.algorithms.BFS(0): None,
        tg.algorithms.SSSP(0): None,
        tg.algorithms.WCC(): None,
        tg.algorithms.WidestPath(0): None,
        tg.dynamic.CoreNumbers(): tg.algorithms.core_number,
        tg.dynamic.Triangles(): tg.algorithms.triangle_count,
    }
    ranks = tg.dynamic.follow(tg.algorithms.PageRank(tol=1e-6, dtype=torch.float64), store)
    followers = {program: tg.dynamic.follow(program, store) for program in programs}
    step, followed, number = 1500, 0, 0
    for first in range(0, len(source), step):
        part = slice(first, first + step)
        store.insert(source[part], target[part], torch.ones(len(source[part])))
        if first >= 4 * step:
            old = slice(first - 4 * step, first - 3 * step)
            store.delete(source[old], target[old])
        graph = store.snapshot()
        for program, follower in followers.items():
            compute = programs[program]
            expected = tg.run(program, graph).values if compute is None else compute(graph)
            found = follower.values
            assert torch.equal(found, expected) if isinstance(found, torch.Tensor) else found == expected
            followed += follower.statistics.recomputed is None
            number += 1
        exact = tg.algorithms.pagerank(graph, tol=1e-13, max_iterations=1000, dtype=torch.float64)
        assert float((ranks.values - exact).abs().sum()) <= 1e-6 * 0.85 / 0.15
    assert followed > number / 2
