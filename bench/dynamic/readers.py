"""Reading ten rows while nothing else happens, and while a store is written to: by a thread of the same process, and by
another process, in a folder."""

from __future__ import annotations

import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.dynamic.own import BATCH, RUNS
from bench.dynamic.stream import Stream
from bench.measure import timed

READS = 4000
REFRESHED = 0.02  # seconds between two times that a reader in another process goes on
SPAWN = multiprocessing.get_context("spawn")

Change = Callable[[int], bool]


def readers(stream: Stream, folder: Path, batch: int = 10_000) -> Iterator[list[str]]:
    """µs to read ten rows, and how many times in a second that is done."""
    yield ["a reader of ten rows", "median, µs", "at the 99th of 100, µs", "longest, µs", "reads/s", "writer, M arcs/s"]
    yield from of_a_thread(stream, batch)
    with tempfile.TemporaryDirectory() as path:
        yield from of_a_process(stream, folder, Path(path) / "store", batch)


def of_a_thread(stream: Stream, batch: int) -> Iterator[list[str]]:
    store = filled(tg.dynamic.Store(num_vertices=stream.num_vertices), stream)
    yield row("alone", read(store, READS))
    written, done = [0], threading.Event()

    def committed(count: int) -> bool:
        written[0] += count
        return done.is_set()

    writer, begin = threading.Thread(target=write, args=(store, stream, batch, committed)), time.perf_counter()
    writer.start()
    took = read(store, READS)
    rate = written[0] / (time.perf_counter() - begin)
    done.set()
    writer.join()
    yield row(f"beside a thread that inserts batches of {batch:,}", took, rate)


def of_a_process(stream: Stream, folder: Path, path: Path, batch: int) -> Iterator[list[str]]:
    filled(tg.dynamic.open(path, num_vertices=stream.num_vertices), stream).close()
    reader = tg.dynamic.open(path, mode="r")
    yield row("of a folder, alone", read(reader, READS))
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield row("beside a process that only computes", read(reader, READS))
    spinning.kill()
    spinning.wait()
    written, done = SPAWN.Value("q", 0), SPAWN.Event()
    writer = SPAWN.Process(target=write_folder, args=(folder, path, batch, written, done))
    writer.start()
    while not written.value:
        time.sleep(0.01)
    before, begin = written.value, time.perf_counter()
    for name, every in ((f"beside a process that inserts batches of {batch:,}", None), ("and going on", REFRESHED)):
        took = read(reader, READS, every)
        yield row(name, took, (written.value - before) / (time.perf_counter() - begin))
    done.set()
    writer.join()
    reader.close()


def filled(store: tg.dynamic.Store, stream: Stream) -> tg.dynamic.Store:
    """The store with arcs, of which some are in runs."""
    for src, dst in stream.batches(BATCH):
        store.insert(src, dst)
        if store.info()["changes in runs"] > RUNS * stream.num_arcs:
            break
    return store


def write(store: tg.dynamic.Store, stream: Stream, batch: int, committed: Change) -> None:
    """Insert batches until `committed`, which is told their arcs, says that it is enough."""
    for src, dst in stream.batches(batch):
        store.insert(src, dst)
        if committed(len(src)):
            return


def write_folder(folder: Path, path: Path, batch: int, written: Synchronized[int], done: Any) -> None:
    """In a process of its own."""

    def committed(count: int) -> bool:
        written.value += count
        return bool(done.is_set())

    with tg.dynamic.open(path) as store:
        write(store, Stream(folder), batch, committed)


def read(store: tg.dynamic.Store, count: int, refreshed: float | None = None) -> list[float]:
    """Seconds of each read; that the store goes on now and then is not counted."""
    random, took, last = np.random.default_rng(0), [], time.perf_counter()
    for _ in range(count):
        wanted = torch.from_numpy(random.integers(store.num_vertices, size=10))
        took.append(timed(store.neighbors, wanted)[0])
        if refreshed is not None and time.perf_counter() - last > refreshed:
            assert isinstance(store, tg.dynamic.durable.store.StoreOfFolder)
            store.refresh()
            last = time.perf_counter()
    return took


def row(name: str, took: list[float], rate: float | None = None) -> list[str]:
    figures = (statistics.median(took), np.quantile(took, 0.99), max(took))
    cells = [*(f"{1e6 * figure:.0f}" for figure in figures), f"{len(took) / sum(took):.0f}"]
    return [name, *cells, "" if rate is None else f"{rate / 1e6:.1f}"]
