"""Scans of a tensor that several readers share."""

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tgraph.stores import DiskStore
from tgraph.stores.scan import PIECE

pytestmark = pytest.mark.skipif(not hasattr(os, "preadv"), reason="this system has no preadv, which scans read with")


@pytest.mark.parametrize(("dtype", "shape"), [(torch.float32, (12_000, 100)), (torch.uint8, (3, PIECE + 1))])
def test_readers_that_join_at_any_time_get_their_rows(tmp_path, dtype, shape):
    tensor = (100 * torch.rand(shape)).to(dtype)
    store = DiskStore(tmp_path, scans=True)
    store.put("x", tensor)
    stat = store.stat("x")

    def reads(seed):
        drawn = random.Random(seed)
        for _ in range(5):
            index = torch.randint(shape[0], (drawn.randrange(shape[0] // 2, 2 * shape[0]),))
            assert torch.equal(store.get_rows(stat, index), tensor[index])
            time.sleep(drawn.random() / 200)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(reads, range(4)))


def test_a_file_that_cannot_be_read_fails_all_readers(tmp_path):
    store, index = DiskStore(tmp_path, scans=True), torch.arange(40_000)
    store.put("x", torch.rand(40_000, 100))
    stat = store.stat("x")
    store.get_rows(stat, index)
    os.truncate(tmp_path / "x.safetensors", 5 * PIECE)
    held, errors = store._held["x"], []

    def read():
        with pytest.raises(OSError, match="x: the file ends at byte") as caught:
            held.rows(index)
        errors.append(caught)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_is_forked_while_others_read_scans_as_well(tmp_path):
    store, index = DiskStore(tmp_path, scans=True), torch.arange(40_000)
    x = torch.rand(40_000, 100)
    store.put("x", x)
    stat, is_over = store.stat("x"), threading.Event()

    def read():
        torch.set_num_threads(1)
        while not is_over.is_set():
            store.get_rows(stat, index)

    thread = threading.Thread(target=read)
    thread.start()
    torch.set_num_threads(1)
    for _ in range(5):
        child = os.fork()
        if not child:
            os._exit(0 if torch.equal(store.get_rows(stat, index), x) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    is_over.set()
    thread.join()
