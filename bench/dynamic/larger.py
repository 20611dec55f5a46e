"""A graph of several times the memory that it may have: inserts and reads of rows beside the same in memory, and
programs on a snapshot beside the same on a file of blocks.

    python -m bench.dynamic.larger [--part inserts,programs] [--arcs 2e8] [--vertices 4e6] [--arcs-memory 2e8]
                                   [--limit 6e8] [--pending 0.05] [--folder FOLDER]

Arcs between vertices drawn with a preference for low numbers, in batches, into a store in a folder (`sync="never"`: the
disk is what limits) that may take --arcs-memory; a control group of Linux holds its process, the page cache included,
to --limit, of which Python and torch take 250 MB. Then the same in memory, not held. Both end with the same number of
arcs, and the same rows where some are compared.

Programs run on a snapshot of a weighted store of which --pending of the arcs lie in runs, and on a file made by
`tgraph.stream.write_partitioned` of the same graph with the same budget, both held to --limit; the values are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.command import parsed
from bench.dynamic.stream import Ends
from bench.measure import timed
from bench.process import answer, peak
from bench.verify import require
from examples.products import control_group
from tgraph.dynamic.columns import Column, Place, read_ranges
from tgraph.files import checksummed, tensor_stream

ROWS = 10_000  # that are read
PROGRAMS: dict[str, Callable[[tg.Graph], torch.Tensor]] = {
    "PageRank": tg.algorithms.pagerank,
    "BFS": lambda graph: tg.algorithms.bfs(graph, 0),
    "components": tg.algorithms.wcc,
    "SSSP": lambda graph: tg.algorithms.sssp(graph, 0),
}


def drawn(vertices: int, arcs: int, batch: int, first: int = 0) -> Iterator[Ends]:
    for number, _ in enumerate(range(0, arcs, batch), start=first):
        ends = np.random.default_rng(number).random((2, batch), dtype=np.float32)
        src, dst = (ends**3 * vertices).astype(np.int32)
        yield src, dst


def traffic() -> dict[str, int]:
    """Bytes that this process has had disks read and write; empty where the system does not tell."""
    file = Path("/proc/self/io")
    lines = file.read_text().splitlines() if file.exists() else []
    return {name: int(count) for name, count in (line.split(": ") for line in lines) if name.endswith("_bytes")}


def disk(folder: Path) -> tuple[float, float]:
    """Bytes per second that the disk writes and reads, past the page cache, of one file."""
    values, path = torch.zeros(1 << 26), folder / "probe"
    begin = time.perf_counter()
    with tensor_stream.writing(path, "x", values.dtype, len(values), {}) as append:
        for part in values.split(1 << 22):
            append(part)
    written = time.perf_counter()
    column, memory = Column(values, Place(path, checksummed.contents(path, "").position("x"))), None
    for first in range(0, len(values), 1 << 22):
        _, memory = read_ranges([(column, first, first + (1 << 22))], memory)
    read = time.perf_counter()
    column.close()
    path.unlink()
    return values.nbytes / (written - begin), values.nbytes / (read - written)


# ---- inserts --------------------------------------------------------------------------------------------------------


def measure_inserts(options: argparse.Namespace) -> dict[str, Any]:
    arcs, vertices = int(options.arcs), int(options.vertices)
    if options.kind == "held":
        store = tg.dynamic.open(
            options.folder / "larger.tgd", num_vertices=vertices, sync="never", memory=int(options.arcs_memory)
        )
    else:
        store = tg.dynamic.Store(num_vertices=vertices)
    inserting = 0.0
    for src, dst in drawn(vertices, arcs, options.batch):
        inserting += timed(store.insert, src, dst)[0]
    amplification, moved = store.info()["write amplification"], traffic()
    compacting = timed(store.compact)[0]
    wanted = torch.randint(vertices, (ROWS,), generator=torch.Generator().manual_seed(0))
    reading, (offset, neighbors, _) = timed(store.neighbors, wanted)
    rows = [int(offset[-1]), int(neighbors.long().sum())]
    found = {"insert": inserting, "compact": compacting, "read": reading, "rows": rows, "amplification": amplification}
    return found | moved | {"processor": time.process_time(), "peak": peak() / 1e6, "arcs": store.snapshot().num_arcs}


def inserts(options: argparse.Namespace, folder: str) -> None:
    found = {}
    for kind, name in (("held", "in a folder, held"), ("free", "in memory")):
        found[kind] = run = in_process(options, folder, kind, held=kind == "held")
        print(
            f"{name}: {run['arcs']:,} arcs, {options.arcs / run['insert'] / 1e6:.2f} M arcs/s, each change written "
            f"{run['amplification']:.1f} times, compacted in {run['compact']:.1f} s, {ROWS:,} rows read in "
            f"{1000 * run['read']:.0f} ms, {run['processor']:.1f} s of processors, {run['peak']:.0f} MB at most",
            flush=True,
        )
    require(found["held"]["arcs"] == found["free"]["arcs"], "other numbers of arcs")
    require(found["held"]["rows"] == found["free"]["rows"], "other rows")
    print(f"ratio {found['free']['insert'] / found['held']['insert']:.2f}")
    if moved := [found["held"].get(name, 0) for name in ("write_bytes", "read_bytes")]:
        least = sum(count / speed for count, speed in zip(moved, disk(Path(folder)), strict=True))
        print(
            f"while inserting {moved[0] / 1e9:.1f} GB written and {moved[1] / 1e9:.1f} read, which takes the disk "
            f"{least:.1f} s of the {found['held']['insert']:.1f}"
        )


# ---- programs -------------------------------------------------------------------------------------------------------


def make_graphs(options: argparse.Namespace) -> dict[str, Any]:
    """A store of which a share of the arcs lies in runs, and the same graph in a file of blocks."""
    vertices, memory = int(options.vertices), int(options.arcs_memory)
    pending = int(options.arcs * options.pending)
    with tg.dynamic.open(
        options.folder / "programs.tgd", torch.float32, num_vertices=vertices, sync="never", memory=memory
    ) as store:
        for count, first in ((int(options.arcs) - pending, 0), (pending, 1 << 20)):
            for src, dst in drawn(vertices, count, options.batch, first):
                store.insert(src, dst, np.random.default_rng(len(src)).random(len(src), dtype=np.float32))
            if not first:
                store.compact()
        graph = store.snapshot()
        budget, runs = graph.layout.memory, store.info()["changes in runs"]
        parts = max(8 * graph.nbytes // memory, 8)
        tg.stream.write_partitioned(graph.to_csr(), options.folder / "programs.tg", parts)
    return {"budget": budget, "arcs": graph.num_arcs, "runs": runs, "bytes": graph.nbytes}


def measure_programs(options: argparse.Namespace) -> dict[str, Any]:
    begin = time.perf_counter()
    if options.kind == "snapshot":
        store = tg.dynamic.open(options.folder / "programs.tgd", mode="r", memory=int(options.arcs_memory))
        graph = store.snapshot()
    else:
        graph = tg.open(options.folder / "programs.tg", memory=int(options.budget))
    found: dict[str, Any] = {"arcs": graph.num_arcs, "open": time.perf_counter() - begin}
    for name, program in PROGRAMS.items():
        used = time.process_time()
        seconds, values = timed(program, graph)
        found[name] = seconds, time.process_time() - used
        torch.save(values, options.folder / f"{name}-{options.kind}.pt")
    return found | {"peak": peak() / 1e6}


def programs(options: argparse.Namespace, folder: str) -> None:
    made = in_process(options, folder, "made", held=False)
    print(
        f"{made['arcs']:,} arcs, {made['runs']:,} changes in runs: {made['bytes'] / 1e6:.0f} MB; "
        f"budget {made['budget'] / 1e6:.0f} MB, data of vertices included"
    )
    found = {}
    for kind in ("snapshot", "file"):
        found[kind] = run = in_process(options, folder, kind, held=True, budget=made["budget"])
        times = ", ".join(f"{name} {run[name][0]:.1f} s ({run[name][1]:.1f} of processors)" for name in PROGRAMS)
        print(f"{kind}: opened in {run['open']:.1f} s, {times}; {run['peak']:.0f} MB at most", flush=True)
    for name in PROGRAMS:
        values = [torch.load(Path(folder) / f"{name}-{kind}.pt") for kind in found]
        exact = not values[0].is_floating_point() or torch.allclose(*values, rtol=1e-5, atol=1e-9)
        require(exact and (values[0].is_floating_point() or torch.equal(*values)), f"other values of {name}")


# ---- processes ------------------------------------------------------------------------------------------------------


def in_process(options: argparse.Namespace, folder: str, kind: str, held: bool, budget: int = 0) -> dict[str, Any]:
    """The measurements of a process of its own, in a control group that holds it, or free."""
    with control_group(int(options.limit)) if held else nullcontext() as group:
        if held and group is None:
            print("not held: no control group can be made")
        where = ("--folder", Path(folder).resolve(), "--kind", kind, "--budget", budget)
        return answer("bench.dynamic.larger", *sys.argv[1:], *where, group=group)


MEASURES = {
    **dict.fromkeys(("held", "free"), measure_inserts),
    **dict.fromkeys(("snapshot", "file"), measure_programs),
    "made": make_graphs,
}


def main() -> None:
    options = parsed(
        __doc__,
        known={"part": ("inserts", "programs"), "kind": tuple(MEASURES)},
        hidden=["kind", "budget"],
        part=("inserts", "programs"), arcs=2e8, vertices=4e6, batch=100_000, arcs_memory=2e8, limit=6e8, pending=0.05,
        threads=2, folder=Path, kind=str, budget=float,
    )  # fmt: skip
    if options.kind:
        torch.set_num_threads(options.threads)
        print(json.dumps(MEASURES[options.kind](options)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for part in options.part:
            {"inserts": inserts, "programs": programs}[part](options, folder)


if __name__ == "__main__":
    main()
