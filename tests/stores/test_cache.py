"""A cache serves what the store behind it has, keeps what is used most, and says how often that helped."""

import os
import pickle
import threading

import pytest
import torch
from strategies import refused
from tqdm import tqdm

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.stores import CachedStore, MemoryStore, ReplacedError
from tgraph.stores.blocks import read
from tgraph.stores.row_cache import PER_ROW, PER_SLOT

ROWS = 1000
ROW_BYTES = 4 * 8


def cached(part, x=None):
    """(a cache with room for that part of the rows, the tensor "x" behind it)"""
    x = torch.rand(ROWS, 8) if x is None else x
    store = CachedStore(MemoryStore(), int(len(x) * (PER_ROW + part * (ROW_BYTES + PER_SLOT))) + 1)
    store.put("x", x)
    return store, x


def consistent(store, key="x"):
    """Whether each row that is held has one slot, which holds its values."""
    held, values = store._held[key], read(store.store, key)[1]
    rows = (held._place >= 0).nonzero().view(-1)
    slots = held._place[rows].long()
    used = (held._row >= 0).sum()
    return torch.equal(held._row[slots], rows) and len(rows) == used and torch.equal(held._values[slots], values[rows])


@pytest.mark.covering(1)
@pytest.mark.parametrize("part", [0, 0.001, 0.01, 0.1, 0.5, 1])
@pytest.mark.parametrize("pinned", [None, 0, 0.5, 1])
def test_any_sequence_of_reads(part, pinned):
    torch.manual_seed(0)
    store, x = cached(part)
    if pinned is not None:
        store.pin("x", torch.rand(ROWS), pinned)
    stat, hits = store.stat("x"), 0
    for step in range(300):
        size = int(torch.randint(1, (5, 60, 1200)[step % 3], ()))
        index = (torch.rand(size) ** 3 * ROWS).long()
        assert torch.equal(store.get_rows(stat, index), x[index])
        hits += size
    assert store.get_rows(stat, index[:0]).shape == (0, 8)
    stats = store.stats()
    assert stats.hits + stats.misses == hits and stats.bytes_served == hits * ROW_BYTES
    assert (stats.hits > 0) == (part > 0) and 0 < stats.bytes_read <= stats.misses * ROW_BYTES + part * ROWS * ROW_BYTES
    if part:
        assert consistent(store)
        assert len(store._held["x"]._values) == int(part * ROWS)


def test_what_fits_is_read_once():
    store, x = cached(1)
    for _ in range(3):
        assert torch.equal(read(store, "x", torch.arange)[1], x)
    stats = store.stats()
    assert (stats.hits, stats.misses, stats.bytes_read) == (2 * ROWS, ROWS, x.nbytes)
    assert stats.hit_rate == 2 / 3
    with tqdm(total=1, disable=False, file=open(os.devnull, "w")) as bar:
        bar.set_postfix(cache=stats)
        assert "66.7% hits, 0 MB read" in str(bar)


def samples():
    graph = tg.generators.rmat(12, 16)
    sampler = tg.sampling.NeighborSampler(graph, [5, 3], seed=1)
    return graph, [sampler.sample(torch.randint(graph.num_vertices, (32,)), draw=i).node for i in range(200)]


def test_hit_rates_of_neighbour_sampling():
    torch.manual_seed(0)
    graph, nodes = samples()
    x = torch.rand(graph.num_vertices, 8)
    best = torch.bincount(torch.cat(nodes), minlength=len(x)).topk(len(x) // 10).values.sum() / sum(map(len, nodes))
    rates = []
    for pinned in (False, True):
        store, _ = cached(0.1, x)
        if pinned:
            store.pin("x", graph.out_degree)
        for node in nodes:
            read(store, "x", lambda size: node)  # noqa: B023
        rates.append(store.stats().hit_rate)
    assert 0.7 * best < rates[0] < rates[1] < best


def test_a_scan_does_not_evict_what_is_used():
    store, _ = cached(0.2)
    stat, used = store.stat("x"), torch.arange(100)
    for _ in range(3):
        store.get_rows(stat, used)
    for begin in range(100, ROWS, 20):
        store.get_rows(stat, torch.arange(begin, begin + 20))
    before = store.stats()
    store.get_rows(stat, used)
    assert store.stats().hits - before.hits > 90


def test_tensors_share_the_memory():
    store, x = cached(0.5)
    store.put("y", x)
    for key in ("x", "y", "x"):
        assert torch.equal(read(store, key, torch.arange)[1], x)
    sizes = {key: held.slots for key, held in store._held.items()}
    assert sizes["x"] == sizes["y"] and 200 < sizes["x"] < 250
    store.delete("y")
    assert read(store, "y") is None


@pytest.mark.parametrize("behind", [False, True])
def test_a_tensor_that_was_replaced_is_not_served(behind):
    store, x = cached(1)
    store.pin("x", torch.rand(ROWS), 0.5)
    read(store, "x", torch.arange)
    old = store.stat("x")
    (store.store if behind else store).put("x", x + 1)
    assert torch.equal(read(store, "x", torch.arange)[1], x + 1)
    with pytest.raises(ReplacedError):
        store.get_rows(old, torch.arange(ROWS))
    (store.store if behind else store).put("x", x[:500, :3])
    assert torch.equal(read(store, "x", torch.arange)[1], x[:500, :3])


def test_threads_find_one_version_each_time():
    store, _ = cached(0.3, torch.zeros(ROWS, 8))
    wrong, done = [], threading.Event()

    def work():
        while not done.is_set():
            found = read(store, "x", lambda size: torch.randint(size, (50,)))[1]
            if not bool((found == found[0, 0]).all()):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for value in range(1, 100):
        store.put("x", torch.full((ROWS, 8), float(value)))
        read(store, "x", lambda size: torch.randint(size, (50,)))
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong and consistent(store)


def test_a_pickled_cache_is_empty_and_keeps_its_pins():
    store, x = cached(0.5)
    store.pin("x", -torch.arange(ROWS), 0.5)
    read(store, "x", torch.arange)
    found = pickle.loads(pickle.dumps(store))
    assert not found._held and found.stats().hits == 0
    assert torch.equal(read(found, "x", lambda size: torch.arange(250))[1], x[:250])
    assert found.stats().misses == 0 and found.stats().bytes_read == 250 * ROW_BYTES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_reads_from_what_its_parent_held():
    store, x = cached(1)
    read(store, "x", torch.arange)
    child = os.fork()
    if not child:
        same = torch.equal(store.get_rows(store.stat("x"), torch.tensor([3, 1])), x[[3, 1]])
        os._exit(0 if same and store.stats().misses == ROWS else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_refusals():
    with pytest.raises(ArgumentError, match="memory: 'much' is no amount"):
        CachedStore(MemoryStore(), "much")
    store, _ = cached(0.5)
    refused("score: expected a number for each row of 'y', which is not stored", store.pin, "y", torch.rand(ROWS))
    refused("'x', which has 1000 rows", store.pin, "x", torch.rand(ROWS + 1))
    refused("share: expected 0 to 1, got 2", store.pin, "x", torch.rand(ROWS), 2)
    assert repr(store).endswith(", 24501)")
