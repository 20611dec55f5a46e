"""The loader of the compiled kernels, and what the kernels refuse."""

import sys
import threading
import warnings

import pytest
import torch

from tgraph.core.building import sorting
from tgraph.core.system import native


@pytest.fixture
def kernels():
    module = native.load()
    if module is None:
        pytest.skip("the compiled kernels are not installed")
    return module


def test_the_environment_turns_the_kernels_off(monkeypatch):
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert native.load() is None  # on purpose, so without a warning


@pytest.mark.filterwarnings("ignore:nanobind")  # a second copy of the module registers its types again
def test_the_kernels_can_be_loaded_from_a_file(monkeypatch, kernels):
    monkeypatch.setenv("TGRAPH_NATIVE", kernels.__file__)
    assert native.load().__file__ == kernels.__file__


def test_missing_kernels_are_announced_once_and_replaced(monkeypatch):
    """The import starts afresh, with the compiled module out of reach."""
    monkeypatch.delenv("TGRAPH_NATIVE", raising=False)
    monkeypatch.setitem(sys.modules, "tgraph._native", None)
    native._import_installed.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="without its compiled CPU kernels.*install a C\\+\\+20 compiler"):
            offset, neighbors, _ = sorting.sort_edges(torch.tensor([1, 0]), torch.tensor([0, 1]), 2)
        assert offset.tolist() == [0, 1, 2] and neighbors.tolist() == [1, 0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert native.load() is None
    finally:
        native._import_installed.cache_clear()


def test_kernels_follow_the_thread_count_of_torch(kernels):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert kernels.thread_count() == 1
        torch.set_num_threads(3)
        assert kernels.thread_count() == 3
    finally:
        torch.set_num_threads(threads)


def test_kernels_refuse_arrays_of_another_dtype(kernels):
    offset, neighbors = torch.zeros(3, dtype=torch.int64), torch.empty(1, dtype=torch.int32)
    for bad in (torch.zeros(1), torch.zeros(1, dtype=torch.int16)):
        with pytest.raises(TypeError):
            kernels.sort_edges(bad, bad, offset, neighbors, None, False)


def test_an_id_table_grows_from_its_least_size(kernels):
    ids = torch.arange(-500_000, 500_000) * 1_000_003
    table = kernels.IdTable(int(ids[0]), 0)
    small = table.capacity
    table.insert(ids.flip(0).contiguous())
    table.insert(ids)
    assert table.size == len(ids) and small < len(ids) < table.capacity < 3 * len(ids)
    found, rank = torch.empty_like(ids), torch.zeros(table.capacity, dtype=torch.int64)
    table.list(found, rank)
    positions = torch.empty_like(ids)
    table.look_up(ids, rank, positions)
    assert torch.equal(found, ids) and torch.equal(positions, torch.arange(len(ids)))


def test_kernels_release_the_interpreter(kernels):
    """A Python thread makes progress while a sort runs; beside a kernel that kept the interpreter, one step at most."""
    src = torch.randint(2**20, (4_000_000,))
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.0005):
            ticks.append(None)

    def ticks_of_a_sort():
        before = len(ticks)
        sorting.sort_edges(src, src, 2**20)
        return len(ticks) - before

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert any(ticks_of_a_sort() > 3 for _ in range(200))  # the first, unless the machine is busy
    finally:
        stop.set()
        thread.join()
