import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

import tgraph as tg
from tgraph.core.rows import Selection
from tgraph.core.system import native, pages
from tgraph.kernels.native.aggregation import arcs

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not built")

HUGE = 1 << 21


@pytest.fixture
def small(monkeypatch):
    """What is larger than a page counts as large."""
    monkeypatch.setattr(pages, "LARGE", 1 << 12)


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (HUGE // 40, 5), (7, 11, 13)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
def test_fresh_tensors_are_tensors(small, shape, dtype):
    found = pages.fresh(shape, dtype)
    assert found.shape == shape and found.dtype == dtype and found.is_contiguous()
    assert torch.equal(found.fill_(1), torch.ones(shape, dtype=dtype))


@pytest.mark.parametrize("shape", [(0,), (1 << 17,), ((1 << 17) + 1,), (HUGE, 2), (HUGE + 3,)])
@pytest.mark.parametrize("dtype", [torch.int64, torch.bfloat16])
def test_mapped_tensors_are_tensors_that_others_may_outlive(shape, dtype):
    found = pages.mapped(shape, dtype)
    assert found.shape == shape and found.dtype == dtype and found.is_contiguous()
    assert found.nbytes < pages.MAPPED or found.data_ptr() % HUGE == 0
    rest = found.fill_(1)[len(found) // 2 :]
    del found
    assert torch.equal(rest, torch.ones_like(rest))


def test_what_is_mapped_goes_back_to_the_system():
    def mapped():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    before = mapped()
    held = pages.mapped((1 << 28,), torch.uint8)
    assert mapped() - before > 1 << 27
    del held
    assert mapped() - before < 1 << 27


@pytest.mark.parametrize("columns", [1, 64])
def test_settled_data_stays_where_and_what_it_is(small, columns):
    data = torch.arange(3 * HUGE // 8).remainder(1000).view(-1, columns)
    address, copy = data.data_ptr(), data.clone()
    for _ in range(2):
        pages.settle(data, pages.WORTH * len(data))
    assert data.data_ptr() == address and torch.equal(data, copy)


def test_what_can_not_be_settled_is_left(small, tmp_path):
    strided = torch.ones(HUGE // 4, 4)[:, :2]
    pages.settle(strided, 1 << 30)
    leaf = torch.ones(HUGE // 4, 4, requires_grad=True)
    pages.settle(leaf, 1 << 30)
    stored = np.memmap(tmp_path / "features", np.float32, "w+", shape=(HUGE // 4, 4))
    mapped = torch.from_numpy(stored)
    pages.settle(mapped.fill_(2), 1 << 30)
    assert leaf.is_leaf and bool((mapped == 2).all()) and bool((strided == 1).all())


def calls_of(monkeypatch) -> list[int]:
    """Bytes of what is moved into huge pages, call by call."""
    found = []

    class Kernels:
        def collapse_pages(self, array):
            found.append(len(array))

    monkeypatch.setattr(pages.native, "load", Kernels)
    monkeypatch.setattr(pages, "_are_allowed", lambda: True)
    return found


def test_only_large_data_that_is_read_often_is_moved(monkeypatch):
    moved = calls_of(monkeypatch)
    large, small = torch.empty(pages.LARGE // 4, 1), torch.empty(pages.LARGE // 4 - 1, 1)
    pages.settle(large, pages.WORTH * len(large) - 1)
    pages.settle(small, pages.WORTH * len(small))
    assert moved == []
    pages.settle(large, pages.WORTH * len(large))
    assert moved == [pages.LARGE]


@pytest.mark.parametrize(("setting", "moved"), [("always madvise [never]", 0), ("always [madvise] never", 1)])
def test_no_huge_pages_where_the_system_is_set_to_never(setting, moved, monkeypatch, tmp_path, request):
    found = []
    monkeypatch.setattr(pages.native, "load", lambda: type("K", (), {"collapse_pages": found.append}))
    (tmp_path / "enabled").write_text(setting)
    monkeypatch.setattr(pages, "_SETTING", tmp_path / "enabled")
    request.addfinalizer(pages._are_allowed.cache_clear)
    pages._are_allowed.cache_clear()
    pages.settle(torch.empty(pages.LARGE // 4, 1), 1 << 30)
    assert len(found) == moved


def test_a_system_without_huge_pages_is_not_asked(monkeypatch, tmp_path, request):
    monkeypatch.setattr(pages, "_SETTING", tmp_path / "absent")
    request.addfinalizer(pages._are_allowed.cache_clear)
    pages._are_allowed.cache_clear()
    assert not pages._are_allowed()


def test_a_pull_of_some_rows_moves_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr(arcs, "settle", lambda data, rows_read: asked.append(rows_read))
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    data = torch.rand(3, 2)
    arcs.pull(Selection(graph.offset, graph.neighbors, torch.tensor([1])), data, "sum")
    assert asked == []
    arcs.pull(Selection(graph.offset, graph.neighbors), data, "sum")
    assert asked == [3]


def test_sums_of_large_data(small):
    made = torch.Generator().manual_seed(0)
    n, m = 20_000, 200_000
    src, dst = torch.randint(n, (2, m), generator=made)
    graph = tg.Graph.from_edges(src, dst, num_vertices=n)
    data = torch.rand(n, 40, generator=made, dtype=torch.float64)
    for reduce, least in (("sum", 0.0), ("amax", -torch.inf)):
        found = tg.aggregate(graph, data, reduce.removeprefix("a"))
        index = dst[:, None].expand(-1, 40)
        torch.testing.assert_close(
            found, torch.full_like(data, least).scatter_reduce(0, index, data[src], reduce=reduce)
        )


# A system that refuses to move pages, for a reason that the test chooses, and a clock that it can set forward.
SYSTEM = r"""
#include <cerrno>
#include <ctime>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
int asked = 0, refusal = 0, ahead = 0;

int madvise(void* first, size_t bytes, int advice) noexcept {
    if (advice != 25) return static_cast<int>(syscall(SYS_madvise, first, bytes, advice));
    ++asked;
    errno = refusal;
    return -1;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const int failed = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    if (clock == CLOCK_MONOTONIC) time->tv_sec += ahead;
    return failed;
}
}
"""

ASKED = """
import ctypes, errno, sys, torch
from tgraph.core.system import native
system, kernels = ctypes.CDLL(sys.argv[1]), native.load()
asked, refusal, ahead = (ctypes.c_int.in_dll(system, name) for name in ("asked", "refusal", "ahead"))
data = torch.zeros(3 << 21, dtype=torch.uint8)
for refusal.value in (errno.EAGAIN, errno.EINVAL, errno.EBUSY):
    for _ in range(2):
        kernels.collapse_pages(data)
print(asked.value)
refusal.value, asked.value = errno.ENOMEM, 0
kernels.collapse_pages(data)
kernels.collapse_pages(data)
print(asked.value)
ahead.value = 11
kernels.collapse_pages(data)
print(asked.value)
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("g++") is None, reason="needs Linux and g++")
def test_only_a_lack_of_huge_pages_stops_asking_and_that_for_a_while(tmp_path):
    source, library = tmp_path / "system.cpp", tmp_path / "system.so"
    source.write_text(SYSTEM)
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True)
    preloaded = " ".join([*os.environ.get("LD_PRELOAD", "").split(), str(library)])
    found = subprocess.run(
        [sys.executable, "-c", ASKED, library],
        capture_output=True,
        text=True,
        env=os.environ | {"LD_PRELOAD": preloaded},
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["6", "1", "2"]
