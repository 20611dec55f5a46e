"""Batches that threads prepare ahead: the same as without, and no thread outlives the loop."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch
from faults import heed_interrupts
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import CachedLoader, ImbalancedSampler, PrefetchLoader
from torch_geometric.testing import MyFeatureStore, MyGraphStore

from tgraph import nn, pyg, stores
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.pyg import prefetching


def graph(n=120, m=1500):
    made = torch.Generator().manual_seed(0)
    edge_index = torch.randint(n, (2, m), generator=made)
    return Data(x=torch.rand(n, 3, generator=made), edge_index=edge_index, y=torch.arange(n) % 3)


def types():
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.rand(60, 4), torch.rand(30, 3)
    data["author", "writes", "paper"].edge_index = torch.stack((torch.randint(30, (200,)), torch.randint(60, (200,))))
    data["paper", "cites", "paper"].edge_index = torch.randint(60, (2, 300))
    return data


WEIGHTED = {"mode": "triplet", "src_weight": torch.arange(120.0), "dst_weight": torch.arange(120.0).flip(0)}
LOADERS = {
    "nodes": lambda **options: pyg.NeighborLoader(graph(), [4, 3], batch_size=25, shuffle=True, **options),
    "links": lambda **options: pyg.LinkNeighborLoader(
        *(graph(), [4, 3]), batch_size=400, shuffle=True, neg_sampling="binary", **options
    ),
    "weighted links": lambda **options: pyg.LinkNeighborLoader(
        *(graph(), [4, 3]), batch_size=400, neg_sampling=WEIGHTED, **options
    ),
    "types": lambda **options: pyg.HGTLoader(types(), [5, 5], "paper", batch_size=20, shuffle=True, **options),
    "random": lambda **options: pyg.RandomNodeLoader(graph(), 4, shuffle=True, **options),
    "shadow": lambda **options: pyg.ShaDowKHopSampler(graph(), 2, 3, batch_size=40, shuffle=True, **options),
    "saint": lambda **options: pyg.GraphSAINTNodeSampler(graph(), 30, num_steps=4, **options),
    "saint edges": lambda **options: pyg.GraphSAINTEdgeSampler(graph(), 30, num_steps=4, **options),
    "saint walks": lambda **options: pyg.GraphSAINTRandomWalkSampler(graph(), 15, 2, num_steps=4, **options),
}


def content(batch):
    """All tensors of a batch."""
    found = batch.to_dict() if not isinstance(batch, HeteroData) else batch.to_namedtuple()._asdict()
    return str({key: value for key, value in found.items() if value is not None})


def epochs(name, **options):
    """What two epochs have."""
    torch.set_printoptions(threshold=10**6)
    torch.manual_seed(3)
    loader = LOADERS[name](**options)
    return [[content(batch) for batch in loader] for _ in range(2)]


OTHERS: set[threading.Thread] = set()


@pytest.fixture(autouse=True)
def others():
    """Threads of loops that tests of other files left are not counted."""
    OTHERS.clear()
    OTHERS.update(threading.enumerate())


def threads():
    """The names of the threads that prepare batches."""
    new = set(threading.enumerate()) - OTHERS
    return [thread.name for thread in new if thread.name.startswith("tgraph-loader")]


@pytest.mark.parametrize("name", LOADERS)
def test_the_same_batches_on_any_number_of_threads(name):
    alone = epochs(name, prefetch=0)
    assert len(alone[0]) > 2 and alone[0] != alone[1]
    for count in (1, 2, 5):
        assert epochs(name, prefetch=count) == alone
    assert not threads()


@pytest.mark.parametrize("name", LOADERS)
def test_the_same_batches_of_workers(name):
    assert epochs(name, num_workers=2) == epochs(name)


@pytest.mark.parametrize("name", ["nodes", "links", "saint"])
def test_the_same_batches_of_workers_that_persist(name):
    assert epochs(name, num_workers=2, persistent_workers=True) == epochs(name)


@pytest.mark.parametrize("options", [{}, {"filter_per_worker": False}], ids=str)
def test_workers_that_persist_end_with_their_loader(options):
    loader = LOADERS["nodes"](num_workers=2, persistent_workers=True, **options)
    iterator = iter(loader)
    next(iterator)
    workers = getattr(iterator, "iterator", iterator)._workers
    del loader, iterator
    gc.collect()
    assert [worker.exitcode for worker in workers] == [0, 0]  # -15 if they had to be killed


def test_a_generator_determines_the_batches():
    def batches(prefetch):
        made = torch.Generator().manual_seed(5)
        torch.seed()
        loader = pyg.NeighborLoader(graph(), [3], batch_size=50, shuffle=True, generator=made, prefetch=prefetch)
        return [content(batch) for batch in loader]

    assert batches(0) == batches(3)


@pytest.mark.parametrize("options", [{"prefetch": 2}, {"num_workers": 1}], ids=str)
def test_loops_beside_each_other(options):
    """Each draws by the epoch that it has begun, also with a sampler that loaders share."""

    def batches(**options):
        torch.manual_seed(4)
        sampler = pyg.NeighborSampler(graph(), [2, 2])
        both = [pyg.NeighborLoader(graph(), [], neighbor_sampler=sampler, batch_size=20, **options) for _ in range(2)]
        first, second = iter(both[0]), None
        found = [content(next(first))]
        second = iter(both[1])
        for each in (first, second) * 3:
            found.append(content(next(each)))
        return found

    assert batches(**options) == batches(prefetch=0)


def mark(batch):
    batch.marked = True
    return batch


class Failing:
    """A step between sampling and features that notes its threads, and fails for one batch."""

    def __init__(self, at=None):
        self.at, self.names, self.lock = at, [], threading.Lock()

    def __call__(self, sample):
        with self.lock:
            self.names.append(threading.current_thread().name)
        if int(sample.metadata[0][0]) == self.at:
            raise LookupError("no features")
        return sample


def test_an_exception_is_raised_where_its_batch_is_taken():
    loader = pyg.NeighborLoader(graph(), [3], batch_size=20, transform_sampler_output=Failing(40), prefetch=2)
    batches = iter(loader)
    assert [int(next(batches).input_id[0]) for _ in range(2)] == [0, 20]
    with pytest.raises(LookupError, match="no features"):
        next(batches)
    assert int(next(batches).input_id[0]) == 60
    del batches
    assert not threads()


def test_so_many_batches_ahead():
    step = Failing()
    batches = iter(pyg.NeighborLoader(graph(), [3], batch_size=10, transform_sampler_output=step, prefetch=3))
    assert len(threads()) == 3
    next(batches)
    for _ in range(500):
        if len(step.names) == 4:
            break
        time.sleep(0.01)
    assert len(step.names) == 4 and {name[:13] for name in step.names} == {"tgraph-loader"}
    del batches


def test_a_transform_is_called_by_the_loop():
    names = []

    def note(batch):
        names.append(threading.current_thread().name)
        return batch.num_nodes

    assert len(list(pyg.NeighborLoader(graph(), [3], batch_size=60, transform=note, prefetch=2))) == 2
    assert set(names) == {threading.current_thread().name}
    names.clear()
    list(pyg.NeighborLoader(graph(), [3], batch_size=60, transform=note, prefetch=2, filter_per_worker=True))
    assert {name[:13] for name in names} == {"tgraph-loader"}


def of_batches():
    yield from pyg.NeighborLoader(graph(), [3], batch_size=5, prefetch=2)


def test_leaving_a_loop_ends_the_threads():
    for _ in pyg.NeighborLoader(graph(), [3], batch_size=5, prefetch=2):
        assert len(threads()) == 2
        break
    assert not threads()
    batches = of_batches()
    next(batches)
    assert threads()
    batches.close()
    assert not threads()
    with pytest.raises(ZeroDivisionError):
        for _ in pyg.NeighborLoader(graph(), [3], batch_size=5, prefetch=2):
            raise ZeroDivisionError
    assert not threads()


def test_a_store_that_hangs_does_not_hold_the_loop(monkeypatch):
    monkeypatch.setattr(prefetching, "PATIENCE", 0.1)
    begun, answered = threading.Event(), threading.Event()

    def hang(sample):
        begun.set()
        answered.wait()
        return sample

    batches = iter(pyg.NeighborLoader(graph(), [3], batch_size=20, transform_sampler_output=hang, prefetch=2))
    batches._submit()
    assert begun.wait(60)
    del batches
    assert threads()
    answered.set()
    for thread in threading.enumerate():
        if thread.name in threads():
            thread.join(60)
    assert not threads()


def test_workers_start_while_threads_prepare():
    for _ in pyg.NeighborLoader(graph(), [3], batch_size=40, prefetch=2):
        assert sum(1 for _ in pyg.NeighborLoader(graph(), [3], batch_size=40, num_workers=1)) == 3


def test_workers_start_after_threads_have_computed():
    """A forked process has only the thread that forked it: what waits for others would wait for ever."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        layer = nn.GCNConv(3, 3)
        loader = pyg.NeighborLoader(graph(20_000, 200_000), [-1, 5], batch_size=4000, num_workers=2, timeout=120)
        for _ in range(2):
            layer(torch.rand(20_000, 3), graph(20_000, 200_000).edge_index).sum().backward()
            torch.rand(900, 900) @ torch.rand(900, 900)
            assert sum(layer(batch.x, batch.edge_index).isfinite().all() for batch in loader) == 5
    finally:
        torch.set_num_threads(before)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize(
    "options",
    [{"prefetch": 0}, {"prefetch": 2}, {"num_workers": 1}, {"transform": mark}],
    ids=["alone", "threads", "worker", "transform"],  # not of the function, whose address differs between processes
)
def test_batches_are_pinned_and_copied_to_the_device(options):
    data = graph()
    loader = pyg.NeighborLoader(data, [3], batch_size=40, pin_memory=True, **options)
    assert all(batch.x.is_pinned() and batch.edge_index.is_pinned() for batch in loader)
    found = list(PrefetchLoader(loader, torch.device("cuda")))
    assert len(found) == 3 and all(torch.equal(batch.x.cpu(), data.x[batch.n_id.cpu()]) for batch in found)


STORES = {
    "memory": lambda folder: stores.MemoryStore(),
    "disk": lambda folder: stores.DiskStore(folder),
    "cached": lambda folder: stores.CachedStore(stores.DiskStore(folder), 1000),
    "lmdb": lambda folder: stores.LmdbStore(folder / "lmdb"),
    "rocksdb": lambda folder: stores.RocksDbStore(folder / "rocksdb"),
}


@pytest.mark.parametrize("kind", STORES)
def test_features_of_stores_are_read_ahead(kind, tmp_path):
    pytest.importorskip({"lmdb": "lmdb", "rocksdb": "rocksdict"}.get(kind, "torch"))
    features = stores.FeatureStore(STORES[kind](tmp_path))
    edges = stores.GraphStore(stores.MemoryStore())
    data = graph()
    features[None, "x", None] = data.x
    edges[None, "coo", False, (120, 120)] = data.edge_index
    features.put_tensor(torch.arange(1500), group_name=stores.EDGES, attr_name="edge_attr", index=None)
    options = {"input_nodes": torch.arange(120), "batch_size": 3, "transform": mark, "prefetch": 4}
    for batch in pyg.NeighborLoader((features, edges), [3, 3], **options):
        assert batch.marked
        assert torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.edge_attr, batch.e_id)
    assert not threads()


def test_batches_ahead_where_a_processor_is_idle(monkeypatch):
    monkeypatch.setattr(native, "usable_cpus", lambda: torch.get_num_threads() + 1)
    loader = pyg.NeighborLoader(graph(), [3], batch_size=50)
    batches = iter(loader)
    assert len(threads()) == 2
    del batches
    theirs = MyFeatureStore(), MyGraphStore()
    theirs[1].put_edge_index(graph().edge_index, edge_type=None, layout="coo", size=(120, 120))
    batches = iter(pyg.NeighborLoader(theirs, [3], torch.arange(120), batch_size=50))
    assert not threads() and next(batches).n_id is not None
    monkeypatch.setattr(native, "usable_cpus", lambda: torch.get_num_threads())
    batches = iter(loader)
    assert not threads() or torch.accelerator.is_available()


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "2"])
def test_wrong_numbers_of_batches(wrong):
    with pytest.raises(ArgumentError, match="prefetch"):
        pyg.NeighborLoader(graph(), [3], prefetch=wrong)


def test_samplers_and_wrappers_of_pyg():
    data = graph()
    torch.manual_seed(0)
    loader = pyg.NeighborLoader(data, [3], batch_size=60, sampler=ImbalancedSampler(data), prefetch=2)
    batches = list(CachedLoader(loader)) + list(PrefetchLoader(loader, torch.device("cpu")))
    assert len(batches) == 4 and all(torch.equal(batch.x, data.x[batch.n_id]) for batch in batches)
    batches = list(pyg.NeighborLoader(data, [3], batch_sampler=[[1, 2], [7]], prefetch=2))
    assert [batch.input_id.tolist() for batch in batches] == [[1, 2], [7]]


INTERRUPTED = """
import sys, torch
from torch_geometric.data import Data
from tgraph.pyg import NeighborLoader
if __name__ == "__main__":
    data = Data(x=torch.rand(5000, 8), edge_index=torch.randint(5000, (2, 100_000)))
    loader = NeighborLoader(data, [5, 5], batch_size=2, **eval(sys.argv[1]))
    while True:
        for number, batch in enumerate(loader):
            if number == 30:
                print("running", flush=True)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("options", ["{'prefetch': 3}", "{'prefetch': 0}", "{'num_workers': 2}"])
def test_an_interrupted_epoch_ends(options):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        assert process.stdout.readline() == "running\n"
        os.killpg(process.pid, signal.SIGINT)  # workers get it, too, as from a terminal
        _, errors = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors
