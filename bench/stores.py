"""Stores: how fast features are put, read as a whole and by random rows, beside databases without TGraph.

    python -m bench.stores [--rows 250000] [--columns 100] [--batch 10000] [--stores memory,disk,...] [--threads 2]
    python -m bench.stores --rows 2700000 --stores memory,disk       # over 1 GB

float32 rows in each store, and in what one would write without it: a tensor in memory (the limit), PyTorch Geometric's
Data, numpy's memmap, and the packages lmdb, redis and psycopg with a value for each row. The systems of a kind take
turns; what is said is the median. Every result is compared with the tensor, outside of the time.

put, read : of all rows, MB/s; what was read is copied into one tensor. batch : random rows, each batch others, rows/s;
tiny: of 100, µs for each. skewed : rows are drawn as often as vertices of a power-law graph, 1 % of them for half of a
batch; the cache has memory for a tenth of the rows, its hits are those after as many batches as it takes to fill it.
cold : nothing of the file in --folder is in memory; first: nor was anything verified. The limits of cold reads are
random reads past the system's cache (O_DIRECT) of a file of this size on the same disk, 32 at a time. Servers run on
this machine and do not wait for the disk; what is not installed is left out.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import Tensor

from bench.command import RESULTS, parsed
from bench.machine import describe_machine
from bench.measure import timed
from bench.results import save, table
from bench.store_systems import CACHED, KINDS, System, missing, systems_of
from bench.verify import require

TINY, SKEW = 100, 6.6  # 0.01 ** (1 / SKEW) is a half
PUTS, READS, COLD = 3, 3, 3
DEPTH = 32  # reads of the disk at a time
COLUMNS = ("put", "read", "batch", "tiny", "skewed", "hits", "cold", "first")
HEADER = ["put MB/s", "read MB/s", "random rows/s", "µs for 100 rows", "skewed rows/s", "hits", "cold rows/s", "first"]

Figures = dict[str, dict[str, float | None]]  # by system and column


class Turns:
    """Runs that the systems of a kind make in turn, and the medians of their rates."""

    def __init__(self, systems: list[System], tensor: Tensor):
        self.systems, self.tensor = systems, tensor
        self.seconds: dict[tuple[str, str], list[float]] = {}

    def puts(self) -> None:
        for turn in range(PUTS + 1):
            for system in self.systems:
                if turn == 0 or not system.hits:
                    self.note(system, "put", turn, timed(lambda system=system: system.put(self.tensor))[0])

    def reads(self) -> None:
        found = torch.empty_like(self.tensor)
        for turn in range(READS + 1):
            for system in self.systems:
                if not system.hits:
                    seconds, _ = timed(lambda system=system: found.copy_(system.read()))
                    require(torch.equal(found, self.tensor), f"{system.name}: read other rows")
                    self.note(system, "read", turn, seconds)
                    found.zero_()

    def batches(self, column: str, turns: int, chosen: Callable[[int], Tensor], warming: int = 1) -> None:
        """`chosen` gives the rows of a batch by its number."""
        for turn in range(turns + warming):
            index = chosen(turn)
            for system in self.systems:
                seconds = self.rows(system, index)
                self.note(system, column, turn >= warming, seconds)

    def cold(self, column: str, chosen: Callable[[int], Tensor], is_verified: bool) -> None:
        for turn in range(COLD):
            for system in self.systems:
                if system.cool:
                    system.cool(is_verified)
                    self.note(system, column, 1, self.rows(system, chosen(turn)))

    def rows(self, system: System, index: Tensor) -> float:
        seconds, found = timed(lambda: system.rows(index))
        require(torch.equal(found, self.tensor[index]), f"{system.name}: other rows than those at the index")
        return seconds

    def note(self, system: System, column: str, counts: int, seconds: float) -> None:
        if counts:
            self.seconds.setdefault((system.name, column), []).append(seconds)

    def rate(self, system: System, column: str, batch: int) -> float | None:
        """The median, in the unit of the column; None where nothing was measured."""
        found = self.seconds.get((system.name, column))
        if found is None:
            return None
        seconds = statistics.median(found)
        if column == "tiny":
            return seconds * 1e6
        return (self.tensor.nbytes / 1e6 if column in ("put", "read") else batch) / seconds


def measured(systems: list[System], tensor: Tensor, batch: int, turns: int) -> Figures:
    """The figures of the systems of one kind."""
    made, random = Turns(systems, tensor), torch.Generator().manual_seed(1)
    renamed = torch.randperm(len(tensor), generator=random)

    def uniform(_: int, size: int = batch) -> Tensor:
        return torch.randint(len(tensor), (size,), generator=random)

    def skewed(_: int) -> Tensor:
        return renamed[(torch.rand(batch, generator=random, dtype=torch.float64) ** SKEW * len(tensor)).long()]

    made.puts()
    made.reads()
    made.batches("batch", turns, uniform)
    made.batches("tiny", turns, lambda turn: uniform(turn, TINY))
    made.batches("skewed", 0, skewed, max(4, len(tensor) // CACHED // batch))
    before = {system.name: system.hits() for system in systems if system.hits}
    made.batches("skewed", turns, skewed, 0)
    after = {system.name: system.hits() for system in systems if system.hits}
    made.cold("first", uniform, False)
    made.cold("cold", uniform, True)
    found: Figures = {}
    for system in systems:
        found[system.name] = {column: made.rate(system, column, batch) for column in COLUMNS}
        if system.hits:
            hits, rows = (now - then for now, then in zip(after[system.name], before[system.name], strict=True))
            found[system.name]["hits"] = hits / rows
    return found


def random_reads(path: Path, size: int, count: int) -> float:
    """Reads of `size` bytes per second at random places of a file, past the system's cache."""
    places = torch.randint(path.stat().st_size // size, (count,)).tolist()
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)

    def work(mine: list[int]) -> None:
        with mmap.mmap(-1, size) as buffer:  # aligned, as O_DIRECT asks
            for place in mine:
                os.preadv(file, [buffer], place * size)

    try:
        with ThreadPoolExecutor(DEPTH) as pool:
            seconds, _ = timed(lambda: list(pool.map(work, (places[first::DEPTH] for first in range(DEPTH)))))
    finally:
        os.close(file)
    return count / seconds


def disk_limits(folder: Path, tensor: Tensor) -> Iterator[str]:
    """Random reads of the disk itself."""
    path = folder / "probe"
    with open(path, "wb") as file:
        file.write(tensor.numpy().data)
        os.fsync(file.fileno())
    for size, count in ((4 << 10, 20_000), (64 << 10, 4000)):
        if tensor.nbytes < size:
            continue
        try:
            rate = random_reads(path, size, min(count, tensor.nbytes // size))
        except OSError as fault:
            yield f"The disk cannot be read past the system's cache: {fault}"
            return
        yield f"The disk itself: {rate:,.0f} random reads of {size >> 10} KiB per second."
    path.unlink()


def cell(column: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0%}" if column == "hits" else f"{value:,.0f}"


def lines_of(options: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The report, as it comes about."""
    torch.set_num_threads(options.threads)
    tensor = torch.rand(options.rows, options.columns, generator=torch.Generator().manual_seed(0))
    yield (
        f"{options.rows:,} rows of {options.columns} float32 ({tensor.nbytes / 1e6:,.0f} MB), batches of "
        f"{options.batch:,}, {options.threads} threads; {describe_machine()['processor']}\n"
    )
    skipped, rows = [], []
    for kind in options.stores:
        if why := missing(kind):
            skipped.append(f"{kind}: left out, {why}.")
            continue
        with systems_of(kind, folder / kind, tensor.nbytes // CACHED) as systems:
            figures = measured(systems, tensor, options.batch, options.turns)
            rows += [[name, *map(cell, row, row.values())] for name, row in figures.items()]
    yield table(["system", *HEADER], rows)
    yield ""
    yield from skipped
    if "disk" in options.stores:
        yield from disk_limits(folder, tensor)


def main() -> None:
    options = parsed(
        __doc__,
        known={"stores": tuple(KINDS)},
        rows=250_000, columns=100, batch=10_000, turns=9, threads=2, stores=tuple(KINDS), folder=Path, output=RESULTS,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        text = "\n".join(lines_of(options, Path(folder)))
    save("stores", text, folder=options.output)


if __name__ == "__main__":
    main()
