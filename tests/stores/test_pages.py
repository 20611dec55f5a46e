"""Pages of a mapped file that are asked of the disk are in memory before they are touched."""

import ctypes
import mmap
import os
import re
import sys
import time
from pathlib import Path

import pytest
import torch

from tgraph.stores import DiskStore
from tgraph.stores.pages import Pages

PAGES = 64
SIZE = PAGES * mmap.PAGESIZE + 100

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mincore and posix_fadvise")


def resident(mapping):
    """The pages of a map that are in memory."""
    found = (ctypes.c_ubyte * (PAGES + 1))()
    address = torch.frombuffer(mapping, dtype=torch.uint8).data_ptr()
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(address), ctypes.c_size_t(SIZE), found) == 0
    return {page for page, flags in enumerate(found) if flags & 1}


def settled(mapping, expected):
    """What is in memory once that is, or after some seconds."""
    for _ in range(500):
        if expected <= resident(mapping):
            break
        time.sleep(0.01)
    return resident(mapping)


@pytest.fixture
def cold(tmp_path):
    """(descriptor of a file of which nothing is in memory, its map)"""
    path = tmp_path / "file"
    with open(path, "wb") as written:
        written.write(bytes(SIZE))
        written.flush()
        os.fsync(written.fileno())
    with open(path, "rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if resident(mapping):
            pytest.skip("the file system keeps all files in memory")
        yield file.fileno(), mapping


def test_what_is_asked_for_arrives_and_nothing_else(cold):
    pages = Pages(*cold)
    begin = torch.tensor([20, 41, 4, 40, 40, 60]) * mmap.PAGESIZE + 10
    begin[2] -= 20  # a row on pages 3 and 4
    assert not pages.seem_in_memory(begin[:1] + 30 * mmap.PAGESIZE)  # which has page 50 read
    pages.ask(begin, mmap.PAGESIZE // 4)
    expected = {3, 4, 20, 40, 41, 50, 60}
    assert settled(cold[1], expected) == expected
    assert pages.seem_in_memory(begin)


def test_long_rows_rows_beyond_the_end_and_none(cold):
    pages = Pages(*cold)
    pages.ask(torch.tensor([], dtype=torch.int64), 10)
    pages.ask(torch.tensor([5]), 0)
    assert not resident(cold[1])
    pages.ask(torch.tensor([10 * mmap.PAGESIZE]), SIZE)
    expected = set(range(10, PAGES + 1))
    assert settled(cold[1], expected) == expected


def test_rows_of_a_store_that_are_not_in_memory(tmp_path):
    x = torch.rand(20_000, 100)
    DiskStore(tmp_path).put("x", x)
    for index in (torch.arange(19_999, 0, -2), torch.randint(20_000, (5000,)), torch.tensor([7]), torch.arange(20_000)):
        store = DiskStore(tmp_path)
        for _ in range(2):  # first and later reads
            with open(tmp_path / "x.safetensors") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert torch.equal(store.get_rows(store.stat("x"), index), x[index])


def test_neighbours_in_a_store_are_read_page_by_page(tmp_path):
    store = DiskStore(tmp_path)
    store.put("neighbors", torch.arange(10000))
    whole = store.get_rows(store.stat("neighbors"))
    maps = Path("/proc/self/smaps").read_text().split(f"{tmp_path}/neighbors.safetensors")[1:]
    flags = [re.search(r"(?m)^VmFlags:(.*)$", found)[1].split() for found in maps]
    assert len(flags) == 2 and all("rr" in found for found in flags)  # MADV_RANDOM, on the store's map and the tensor's
    assert torch.equal(whole, torch.arange(10000))
