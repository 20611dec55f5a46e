"""Rows that are read past the page cache are those that were put, on every path to the device."""

import ctypes
import errno
import mmap
import os

import pytest
import torch

from tgraph.core.dispatch import BACKENDS
from tgraph.core.system import native
from tgraph.errors import FileFormatError
from tgraph.stores import CachedStore, DiskStore, ReplacedError
from tgraph.stores.direct import DirectFile

SIZES = [1, 4, 200, 511, 512, 513, 4096, 40_000]  # bytes of a row; the last is longer than a request


def ways():
    """Every implementation of reads of pieces."""
    yield BACKENDS["portable"].operators["read_pieces"].run
    if native.load():
        kernel = BACKENDS["native"].operators["read_pieces"].run
        yield kernel
        yield lambda *arguments: kernel(*arguments, with_ring=False)


@pytest.mark.parametrize("size", SIZES)
def test_pieces_of_a_file(tmp_path, size):
    data = torch.randint(256, (max(20_000, 30 * size) + 77,), dtype=torch.uint8)
    (tmp_path / "file").write_bytes(data.numpy().tobytes())
    file = DirectFile(tmp_path / "file")
    last = len(data) - size
    begin = torch.cat((torch.randint(last + 1, (200,)), torch.tensor([0, last, last, 511, 512])))
    wanted = torch.stack([data[i : i + size] for i in begin.tolist()])
    assert torch.equal(file.read(begin, size), wanted)
    for read in ways():
        for align in (512, mmap.PAGESIZE):
            assert torch.equal(read(file.fileno(), begin, size, align), wanted)
            assert torch.equal(read(file.fileno(), begin.sort().values, size, align), wanted[begin.sort().indices])
            assert read(file.fileno(), begin[:0], size, align).shape == (0, size)


def test_a_file_that_ends_early_and_one_that_is_closed(tmp_path):
    (tmp_path / "file").write_bytes(bytes(5000))
    file = DirectFile(tmp_path / "file")
    for read in ways():
        with pytest.raises(OSError) as caught:
            read(file.fileno(), torch.tensor([0, 4990]), 20, 512)
        assert caught.value.errno == errno.ENODATA
        with pytest.raises(OSError):
            read(os.open(tmp_path, os.O_RDONLY), torch.tensor([0]), 20, 512)


@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(20_000, 7), (3000, 100), (9, 50_000), (50, 3, 5), (40, 0), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool])
def test_rows_of_a_store(tmp_path, shape, dtype):
    x = (torch.rand(shape) * 2).to(dtype)
    DiskStore(tmp_path).put("x", x)
    store = DiskStore(tmp_path, direct=True)
    stat = store.stat("x")
    for count in (0, 1, 500):
        index = torch.randint(shape[0], (count,)) if shape[0] else torch.empty(0, dtype=torch.int64)
        found = store.get_rows(stat, index)
        assert torch.equal(found, x[index]) and found.dtype == dtype
    assert torch.equal(store.get_rows(stat), x)


def test_a_damaged_block_is_found(tmp_path):
    store = DiskStore(tmp_path, direct=True)
    store.put("x", torch.zeros(100_000, 3))
    size = (tmp_path / "x.safetensors").stat().st_size
    with open(tmp_path / "x.safetensors", "r+b") as file:
        file.seek(size - 12)
        file.write(b"damage")
    stat = store.stat("x")
    assert not store.get_rows(stat, torch.tensor([0, 50_000])).any()
    with pytest.raises(FileFormatError, match="checksum of the tensor 'x' differs"):
        store.get_rows(stat, torch.tensor([3, 99_999]))


def test_a_replaced_version_is_not_mixed_with_the_next(tmp_path):
    store = DiskStore(tmp_path, direct=True)
    store.put("x", torch.zeros(9, 2))
    stat = store.stat("x")
    DiskStore(tmp_path).put("x", torch.ones(9, 2))
    assert not store.get_rows(stat, torch.arange(9)).any()  # of the file that was opened
    assert store.get_rows(store.stat("x"), torch.arange(9)).all()
    with pytest.raises(ReplacedError):
        store.get_rows(stat, torch.arange(9))


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="mincore and posix_fadvise")
def test_nothing_comes_into_the_page_cache(tmp_path):
    DiskStore(tmp_path).put("x", torch.rand(50_000, 50))
    store = DiskStore(tmp_path, direct=True)
    stat, index = store.stat("x"), torch.randint(50_000, (1000,))
    store.get_rows(stat, index)  # which verifies blocks
    with (
        open(tmp_path / "x.safetensors", "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapping,
    ):
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if pages_in_memory(mapping):
            pytest.skip("the file system keeps all files in memory")
        store.get_rows(stat, index)
        assert not pages_in_memory(mapping)


def pages_in_memory(mapping):
    """How many pages of a map are."""
    found = (ctypes.c_ubyte * (len(mapping) // mmap.PAGESIZE + 1))()
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(address), ctypes.c_size_t(len(mapping)), found) == 0
    return sum(flags & 1 for flags in found)


def test_a_cache_before_it_pins_what_fits(tmp_path):
    x = torch.rand(5000, 30).half()
    disk = DiskStore(tmp_path, direct=True)
    disk.put("x", x)
    cache = CachedStore(disk, 2500 * 69 + 20_000)
    cache.pin("x", torch.arange(5000, 0, -1), share=1)
    index = torch.randint(5000, (3000,))
    for _ in range(3):
        assert torch.equal(cache.get_rows(cache.stat("x"), index), x[index])
    held = int((index < 2500).sum())
    assert cache.stats().hits == 3 * held and cache.stats().misses == 3 * (3000 - held)
    assert repr(disk).endswith("direct=True)")
