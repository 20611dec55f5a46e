"""Graphs that change: batches inserted and deleted, beside other systems, and what is computed meanwhile.

    python -m bench.dynamic [--scale 20] [--small 16] [--batches 1000,10000,100000,1000000] [--parts inserts,...]

The arcs of R-MAT, both directions, in random order, a tenth of them as base, the rest inserted in batches (VCSR's
protocol). Each run is a process of its own; the systems take turns, `--repeat` times, and medians are shown. A run ends
after `--seconds`: the rate is that of the arcs until then. Systems that take gigabytes, or minutes for the base, insert
the arcs of a smaller graph, of scale `--small`; `--systems` names some, with semicolons between. After each run the
arcs are counted, and ours compared with the CSR.

inserts : million arcs per second by size of the batch, the longest batch over the median, bytes of anonymous memory for
each arc at the end (ours compacted) and at most. deletions : in batches of 100,000. durable : each batch on the disk
before the call returns. analytics, following, sampling, snapshots, single, readers : what a store is used for, beside a
graph that does not change (bench/dynamic/own.py).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from bench.command import RESULTS, parsed
from bench.dynamic import own
from bench.dynamic.readers import readers
from bench.dynamic.stream import Stream
from bench.dynamic.systems import SMALL_ONLY, SYSTEMS
from bench.machine import describe_machine
from bench.process import fault_of, python
from bench.results import save, table

DURABLE = "tgraph, durable"
DELETED = 100_000  # arcs in a batch
PATIENCE = 600  # seconds for a run, its base included
PARTS = ("inserts", "durable", "deletions", "analytics", "following", "sampling", "snapshots", "single", "readers")
Run = dict[str, Any]


def work(folder: Path, system: str, batch: int, options: argparse.Namespace, *more: str) -> Run | str:
    """The measurements of a worker, or why there are none."""
    command = ["bench.dynamic.worker", "--folder", folder, "--system", system, "--batch", batch]
    command += ["--threads", options.threads, "--seconds", options.seconds, *more]
    try:
        done = python(*command, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"over {PATIENCE} s"
    if done.returncode:
        return "not installed" if "ModuleNotFoundError" in fault_of(done) else fault_of(done)
    found: Run = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def turns(
    streams: dict[bool, Path], systems: list[str], batches: list[int], options: argparse.Namespace, *more: str
) -> dict[tuple[str, int], list[Run] | str]:
    """The runs of each system and size, or why there are none; those that fail are not tried again."""
    found: dict[tuple[str, int], list[Run] | str] = {}
    for _ in range(options.repeat):
        for batch in batches:
            for system in systems:
                runs = found.setdefault((system, batch), [])
                if isinstance(runs, str):
                    continue
                run = work(streams[system in SMALL_ONLY], system, batch, options, *more)
                print(f"{system}, {batch:,}: {summary([run]) if isinstance(run, dict) else run}", file=sys.stderr)
                if isinstance(run, str):
                    found[system, batch] = run
                else:
                    runs.append(run)
    return found


def rate(runs: list[Run]) -> float:
    """Million arcs per second, the median over runs."""
    return statistics.median(run["arcs"] / run["seconds"] for run in runs) / 1e6


def summary(runs: list[Run]) -> str:
    return f"{rate(runs):.3g} M arcs/s, longest {statistics.median(stalls(runs)):.0f} times the median"


def stalls(runs: list[Run]) -> list[float]:
    return [run["longest"] / run["median"] for run in runs]


def of_batches(found: dict[tuple[str, int], list[Run] | str], batches: list[int]) -> Iterator[list[str]]:
    """The table of inserts."""
    heads = [f"{batch:,}" for batch in batches]
    yield ["million arcs/s", *heads, *(f"stall, {head}" for head in heads), "bytes/arc", "at most"]
    for system in dict.fromkeys(name for name, _ in found):
        cells = [found[system, batch] for batch in batches]
        if all(isinstance(cell, str) for cell in cells):
            yield [system, str(cells[0]), *[""] * (2 * len(batches) + 1)]
            continue
        name = f"{system} (small)" if system in SMALL_ONLY else system
        rates = [f"{rate(cell):.3g}" if isinstance(cell, list) else "-" for cell in cells]
        longest = [f"{statistics.median(stalls(cell)):.0f}" if isinstance(cell, list) else "-" for cell in cells]
        whole = max((run for cell in cells if isinstance(cell, list) for run in cell), key=lambda run: run["kept"])
        memory = [whole["held"] / whole["kept"], max(whole["peak"], whole["held"]) / whole["kept"]]
        yield [name, *rates, *longest, *(f"{nbytes:.1f}" for nbytes in memory)]


def of_deletions(found: dict[tuple[str, int], list[Run] | str]) -> Iterator[list[str]]:
    yield ["deletions", "million arcs/s"]
    for (system, _), runs in found.items():
        yield [system, runs if isinstance(runs, str) else f"{rate(runs):.3g}"]


def main() -> None:
    options = parsed(
        __doc__,
        known={"parts": PARTS},
        scale=20, small=16, batches=[1000, 10_000, 100_000, 1_000_000], systems=";".join(SYSTEMS), parts=PARTS,
        threads=2, seconds=20.0, repeat=3, output=RESULTS / "dynamic",
    )  # fmt: skip
    scales = {False: options.scale, True: min(options.small, options.scale)}
    folders = {small: options.output / f"rmat-{scale}" for small, scale in scales.items()}
    streams = {small: Stream.make(folder, scales[small]) for small, folder in folders.items()}
    torch.set_num_threads(options.threads)
    machine = describe_machine()["processor"]
    said = [f"R-MAT-{options.scale}, {streams[False].num_arcs:,} arcs; {options.threads} threads; {machine}"]
    print(said[0])

    def say(rows: Iterator[list[str]]) -> None:
        head, *lines = rows
        said.append(table(head, lines))
        print(f"\n{said[-1]}", flush=True)

    in_memory = [name for name in options.systems.split(";") if name != DURABLE]
    if "inserts" in options.parts:
        say(of_batches(turns(folders, in_memory, options.batches, options), options.batches))
    if "durable" in options.parts:
        say(of_batches(turns(folders, [DURABLE], options.batches, options), options.batches))
    if "deletions" in options.parts:
        deleting = [name for name in in_memory if hasattr(SYSTEMS[name], "delete")]
        say(of_deletions(turns(folders, deleting, [DELETED], options, "--delete")))
    stream = streams[False]
    others = {
        "analytics": lambda: own.analytics(stream, options.repeat),
        "following": lambda: own.following(stream),
        "sampling": lambda: own.sampling(stream),
        "snapshots": lambda: own.snapshots(stream),
        "single": lambda: own.single_arcs(stream),
        "readers": lambda: readers(stream, folders[False]),
    }
    for part in options.parts:
        if part in others:
            say(others[part]())
    save("dynamic", "\n\n".join(said), folder=options.output, quiet=True)


if __name__ == "__main__":
    main()
