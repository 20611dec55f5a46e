"""python -m bench.fuzz [--mode MODE] [--inputs N | --minutes M] [--seed S] [--first I] [--keep FOLDER]

Input number i of a mode and a seed is always the same; --minutes are those of all modes, --inputs of each. FOLDER gets
the damaged inputs at fault.
damaged : files for every reader, each of a small graph in one of the formats, changed at a few places. A reader may
give a graph or raise one of `tgraph.errors`; where the format is under checksums, it has to be the one that was
written. Any other exception, another graph and a process that dies are faults.
dressed : valid text in odd dress, with quotes, blanks, comments, line ends, encodings and kinds of numbers; what is
read has to be what was meant.
trips : any graph, written in any format; what is read has to be equal, or nothing written.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

import tgraph as tg
from bench.command import parsed
from bench.fuzz_text import dress_fault, trip_fault

BATCH = 100  # inputs that a process is given at a time
MEMORY = 16 << 30  # bytes of addresses that a process may have: a header that lies must not take the machine down
CHECKED = ("checked.tg", "layout.tg", "blocks.tg", "folded.tg")  # every bit of these is under a checksum
TOKENS = b'\r|\n|"|,|;|\t| |#|%|-1|0|nan|inf|1e309|99999999999|-9223372036854775809|\xff|\x00|\xef\xbb\xbf|1.5|x'.split(
    b"|"
)


def write_samples(folder: Path) -> dict[str, tg.Graph]:
    """A file of each kind in the folder, and the graph that each holds."""
    src, dst = torch.tensor([0, 0, 1, 2, 2, 5, 3, 3]), torch.tensor([1, 2, 2, 3, 3, 5, 0, 4])
    plain = tg.Graph.from_edges(src, dst, num_vertices=6, directed=False, multi="first", self_loops="drop")
    weighted = tg.Graph.from_edges(src, dst, torch.arange(8) + 0.5)
    named = tg.Graph.from_edges(src, dst, torch.arange(8), vertices=["ann", "b,b", 'c "c"', "ü", "e", "f"])
    kinds = {
        "list.txt": weighted, "words.csv": named, "numbers.csv": weighted, "words.parquet": named, "m.mtx": weighted,
        "m.graph": plain, "m.gr": tg.Graph.from_edges(src, dst, torch.arange(8) + 1), "g.e": weighted,
        "words.npz": named, "w.graphml": named, "w.gexf": named, "w.gml": named, "w.json": named, "w.dot": named,
        "n.net": weighted, "n.dl": weighted, "n.lgl": plain, "n.adjlist": plain, "n.g6": plain, "n.s6": plain,
        "checked.tg": named, "layout.tg": weighted.to_format("sell"), "packed.txt.gz": weighted,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, graph in kinds.items():
            tg.write(graph, folder / name)
        tg.stream.write_partitioned(named, folder / "blocks.tg", 3)
        tg.stream.write_partitioned(plain, folder / "folded.tg", 2, layout="virtual")
    return kinds | {"blocks.tg": named, "folded.tg": plain}


@cache
def samples() -> tuple[dict[str, bytes], dict[str, tg.Graph]]:
    """({name: content}, {name: graph})"""
    with tempfile.TemporaryDirectory() as folder:
        graphs = write_samples(Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}, graphs


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content, changed at one to four places."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 8, 100))
        what = chance.randrange(6)
        if what == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif what == 1:
            data[at : at + length] = b""
        elif what == 2:
            data[at:at] = data[at : at + length]
        elif what == 3:
            data[at : at + chance.choice((0, 1))] = chance.choice(TOKENS)
        elif what == 4:
            data[at : at + length] = chance.randbytes(min(length, len(data) - at))
        elif chance.random() < 0.2:
            del data[at:]
    return bytes(data)


def make(seed: int, number: int) -> tuple[str, bytes]:
    """(name, content) of an input."""
    contents, chance = samples()[0], random.Random(f"{seed} {number}")
    name = sorted(contents)[number % len(contents)]
    return name, mutated(contents[name], chance)


def fault(name: str, content: bytes, folder: Path) -> str | None:
    """The fault in reading a file, None where nothing is."""
    path = folder / name
    if name.startswith("g."):  # a graph in several files, of which one is damaged
        for other in ("g.e", "g.v", "g.properties"):
            (folder / other).write_bytes(samples()[0][other])
    path.write_bytes(content)
    try:
        found = tg.read(path)
        held = [found.validate().to_format("csr")]
        if path.suffix == ".tg" and name != "layout.tg":
            held.append(tg.open(path, "10MB").to_format("csr"))
        tg.algorithms.wcc(held[-1])
    except tg.errors.TGraphError:
        return None
    except Exception:
        return traceback.format_exc(limit=-3)
    if name in CHECKED and not all(equal(graph, samples()[1][name].to_format("csr")) for graph in held):
        return "another graph than was written"
    return None


def equal(one: tg.Graph, other: tg.Graph) -> bool:
    """Whether two graphs have the same arcs, weights, ids and direction."""
    parts = [graph.to_csr().storage.to_csr() for graph in (one, other)]
    ids = [None if graph.vertices is None else graph.vertices.tolist() for graph in (one, other)]
    same = all(a is b or (a is not None and b is not None and torch.equal(a, b)) for a, b in zip(*parts, strict=True))
    return same and ids[0] == ids[1] and one.directed == other.directed


MODES: dict[str, Callable[[int, int, Path], str | None]] = {
    "damaged": lambda seed, number, folder: fault(*make(seed, number), folder),
    "dressed": dress_fault,
    "trips": trip_fault,
}


def run(seed: int, first: int, count: int, running: str, mode: str = "damaged") -> list[tuple[int, str]]:
    """The faults of so many inputs as (number, what); the current number is in a file."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            Path(running).write_text(str(number))
            what = MODES[mode](seed, number, Path(folder))
            if what is not None:
                found.append((number, what))
    return found


def limit_memory() -> None:
    """In each process, before anything is read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def fuzz(
    seed: int, first: int, inputs: int | None, seconds: float, processes: int = 2, work: Callable[..., Any] = run
) -> list[tuple[int, str]]:
    """The faults of `inputs` inputs, or of those that can be tried in so many seconds."""
    found, start, number = [], time.monotonic(), first
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        while (number < first + inputs) if inputs is not None else (time.monotonic() - start < seconds):
            batches = [(number + i * BATCH, f"{folder}/{i}") for i in range(20 * processes)]
            if inputs is not None:
                batches = [batch for batch in batches if batch[0] < first + inputs]
            with ProcessPoolExecutor(processes, context, limit_memory) as pool:
                sizes = [BATCH if inputs is None else min(BATCH, first + inputs - begin) for begin, _ in batches]
                tasks = [
                    pool.submit(work, seed, batch[0], size, batch[1])
                    for batch, size in zip(batches, sizes, strict=True)
                ]
                for task, (_, running) in zip(tasks, batches, strict=True):
                    try:
                        found += task.result()
                    except BrokenProcessPool:
                        if Path(running).exists():
                            found.append((int(Path(running).read_text()), "the process died, or one beside it"))
            number = batches[-1][0] + sizes[-1]
            print(f"{number - first:,} inputs, {len(found)} faults", file=sys.stderr)
    return found


def main() -> None:
    """The command."""
    given = parsed(
        __doc__, {"mode": tuple(MODES)}, mode=tuple(MODES), inputs=int, minutes=2.0, seed=0, first=0, keep=Path
    )
    total = 0
    for mode in given.mode:
        seconds = 60 * given.minutes / len(given.mode)
        found = fuzz(given.seed, given.first, given.inputs, seconds, work=partial(run, mode=mode))
        total += len(found)
        for number, what in found:
            again = f"--mode {mode} --seed {given.seed} --first {number} --inputs 1"
            print(f"input {number} ({again}): {what}")
            if given.keep is not None and mode == "damaged":
                name, content = make(given.seed, number)
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{number}-{name}").write_bytes(content)
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
