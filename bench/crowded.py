"""Two threads compared with one, on cores that other processes use as well.

    python -m bench.crowded [--scale 18] [--side 1000] [--turns 15] [--only bfs,...] [--settings idle,...]

Calls with two threads and with one alternate, in each of these settings:

    idle          no other process of this program computes
    loops N       N processes that compute for ever, free to run on any core
    pinned N      the same on one core
    twice         another process makes the same call over and over, with two threads
    quota         a control group, by version 1 or 2, gives the process one processor's worth of time

Reported for each: milliseconds with two threads and with one, medians; their ratio, which should not exceed 1.15; and
next to one busy loop the time with two threads over that on the idle machine, which should not exceed 2.2. Results go
to bench/results/crowded.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

import tgraph as tg
from bench import serial
from bench.command import parsed
from bench.machine import describe_machine
from bench.measure import timed
from bench.process import answer
from bench.results import save, table
from tgraph.stream import write_partitioned

MOST_OF_ONE_THREAD, MOST_OF_IDLE = 1.15, 2.2
SETTINGS = ("idle", "loops 1", "loops 2", "loops 4", "pinned 1", "pinned 2", "pinned 4", "twice", "quota")

Call = Callable[[], Any]

# Ends when its parent process has ended.
LOOP = """
import os, sys
parent, core = int(sys.argv[1]), sys.argv[2]
if core:
    os.sched_setaffinity(0, {int(core)})
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


def main() -> None:
    options = parsed(
        __doc__,
        known={"settings": SETTINGS},
        hidden=("repeat_for", "inner"),
        scale=18, side=1000, turns=15, only=[], settings=SETTINGS, repeat_for=int, inner=False,
    )  # fmt: skip
    if options.repeat_for is not None:
        repeat(options)
        return
    rows = list(measured(options, [setting for setting in options.settings if setting != "quota"]))
    if options.inner:
        print(json.dumps(rows))
        return
    if "quota" in options.settings:
        rows += under_quota(options)
    save("crowded", markdown(rows), {"machine": describe_machine(), "rows": rows})


def others(options: argparse.Namespace, *arguments: Any) -> list[str]:
    """The arguments of another process that makes the same calls."""
    same = ("--scale", options.scale, "--side", options.side, "--turns", options.turns)
    return ["bench.crowded", *map(str, same), *map(str, arguments)]


# ---- The calls


def calls(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Call]]:
    """(name, call) for each requested call, made when it is next."""
    makers = {
        "rmat": partial(tg.generators.rmat, options.scale, weighted=True),
        "grid": partial(tg.generators.grid2d, options.side, options.side, weighted=True),
    }
    for kind, make_graph in makers.items():
        wanted = [name for name in CALLS if not options.only or {name, f"{name} {kind}"} & {*options.only}]
        graph = make_graph() if wanted else None
        for name in wanted:
            yield f"{name} {kind}", CALLS[name](graph, folder)


def aggregate(graph: tg.Graph, _: Path) -> Call:
    data = torch.rand(graph.num_vertices, 64)
    return lambda: tg.aggregate(graph, data, "sum")


def gatv2(graph: tg.Graph, _: Path) -> Call:
    """A layer forward and backward, 2 heads of 8."""
    layer, x = tg.nn.GATv2Conv(16, 8, heads=2), torch.rand(graph.num_vertices, 16, requires_grad=True)
    edge_index = graph.to_edge_index()
    return lambda: layer(x, edge_index).sum().backward()


def streamed(graph: tg.Graph, folder: Path) -> Call:
    """BFS on a file of 16 blocks, a quarter of which fits the memory it is given."""
    file = folder / f"{graph.num_vertices}.tg"
    write_partitioned(graph, file, 16)
    held = tg.open(file, memory=max(file.stat().st_size // 4, 1 << 20))
    return lambda: tg.algorithms.bfs(held, int(graph.out_degree.argmax()))


OF_SERIAL = ("bfs", "sssp", "pagerank", "wcc", "betweenness")
CALLS: dict[str, Callable[[tg.Graph, Path], Call]] = {
    **{name: lambda graph, _, name=name: serial.calls(graph)[name] for name in OF_SERIAL},
    **{"aggregate": aggregate, "gatv2": gatv2, "streamed": streamed},
}


# ---- Settings


@contextmanager
def crowd(setting: str, name: str, options: argparse.Namespace) -> Iterator[None]:
    """Other processes that compute during a call."""
    kind, _, count = setting.partition(" ")
    if kind == "twice":
        with same_call(name, options):
            yield
    else:
        with loops(int(count or 0), kind == "pinned"):
            yield


@contextmanager
def loops(count: int, pinned: bool) -> Iterator[None]:
    """Processes that compute until the end of the block, or of this process."""
    core = str(max(os.sched_getaffinity(0))) if pinned else ""
    running = [subprocess.Popen([sys.executable, "-c", LOOP, str(os.getpid()), core]) for _ in range(count)]
    try:
        time.sleep(0.3 if count else 0)
        yield
    finally:
        stop(running)


def stop(running: list[subprocess.Popen]) -> None:
    for process in running:
        process.kill()
    for process in running:
        process.wait()


@contextmanager
def same_call(name: str, options: argparse.Namespace) -> Iterator[None]:
    """Another process that makes a call over and over."""
    command = [sys.executable, "-m", *others(options, "--only", name, "--repeat-for", os.getpid())]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "begun":
            raise RuntimeError(f"the other process could not make the call {name}")
        yield
    finally:
        stop([process])


def repeat(options: argparse.Namespace) -> None:
    """Repeats the call until the parent process has ended."""
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        _, call = next(calls(options, Path(folder)))
        call()
        print("begun", flush=True)
        while os.getppid() == options.repeat_for:
            call()


def under_quota(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measured by a process in a control group of one processor; nothing where none can be made."""
    with group_of_one_cpu() as group:
        if group is None:
            return []
        rows = answer(*others(options, "--inner", "--settings", "idle", "--only", ",".join(options.only)), group=group)
        return [row | {"setting": "quota"} for row in rows]


@contextmanager
def group_of_one_cpu() -> Iterator[Path | None]:
    """A control group that may use one processor."""
    root, name = Path("/sys/fs/cgroup"), f"tgraph-bench-{os.getpid()}"
    for parent, limits in (
        (root / "cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"}),
        (root, {"cpu.max": "100000 100000"}),
    ):
        group = parent / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for file, text in limits.items():
                (group / file).write_text(text)
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    yield None


# ---- Measuring


def measured(options: argparse.Namespace, settings: list[str]) -> Iterator[dict[str, Any]]:
    """A row for each call in each setting."""
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(options, Path(folder)):
            for setting in settings:
                with crowd(setting, name, options):
                    row = {"setting": setting, "call": name} | in_turns(call, options.turns)
                print("{setting:9} {call:20} {two:9.2f} {one:9.2f} {ratio:6.2f}".format(**row), file=sys.stderr)
                yield row


def in_turns(call: Call, turns: int) -> dict[str, float]:
    """Median milliseconds with two threads and with one; the order alternates."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(turns + 1):
        for threads in (1, 2) if turn % 2 else (2, 1):
            torch.set_num_threads(threads)
            times[threads].append(1e3 * timed(call)[0])
    one, two = (statistics.median(times[threads][1:]) for threads in (1, 2))
    return {"one": one, "two": two, "ratio": two / one}


def markdown(rows: list[dict[str, Any]]) -> str:
    idle = {row["call"]: row["two"] for row in rows if row["setting"] == "idle"}
    lines = []
    for row in sorted(rows, key=lambda row: SETTINGS.index(row["setting"])):
        slower = row["two"] / idle[row["call"]] if row["call"] in idle else None
        over = row["ratio"] > MOST_OF_ONE_THREAD and row["setting"] != "idle"
        beyond = slower is not None and slower > MOST_OF_IDLE and row["setting"] in ("loops 1", "pinned 1")
        lines.append([
            row["setting"], row["call"], f"{row['two']:.2f}", f"{row['one']:.2f}",
            f"{row['ratio']:.2f}{' !' if over else ''}",
            "" if slower is None else f"{slower:.2f}{' !' if beyond else ''}",
        ])  # fmt: skip
    return table(["setting", "call", "two threads, ms", "one thread, ms", "two over one", "two over idle"], lines)


if __name__ == "__main__":
    main()
