"""The threads that each algorithm has work for: the time inside of parallel regions and outside, on one thread.

    python -m bench.serial [--scale 20] [--threads 16,64] [--repeat 3] [--only bfs,...] [--regions]

The kernels take the machine to have so many processors, cut their work for these, and run it on the calling thread
alone, while a census (kernels/native/threads/census.hpp) times the chunks of every region. Reported:

    outside    milliseconds outside of regions
    torch      those of them that are operations of torch that it cuts into parts of 32,768 entries for its threads:
               elementwise ones, reductions, copies. Spread over these, but none in programs with `one_torch_thread`
    inside     milliseconds within regions
    by Amdahl  the speed-up that is left if what is inside is spread evenly
    by chunks  the same where chunks are given to whichever thread is free first: long ones leave the others waiting

Contention for shared memory, and the waking of threads, are not modelled. With --regions each place where
regions are run: how many, of how many chunks, and what part of its longest region the longest chunk is.
Results go to bench/results/serial.json and .md.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tgraph as tg
from bench.command import parsed
from bench.machine import describe_machine
from bench.process import answer
from bench.results import save, table
from tgraph.core.system import native

SOURCES = 4  # of betweenness
ITERATIONS = 20  # of what would go on until it has converged

# Operations that torch cuts into parts of so many entries for its threads, by TensorIterator: of those that algorithms
# call. Sorting, scans, look-ups by index and concatenation are done by one thread.
PART = 1 << 15
PARALLEL = {
    f"aten::{name}{place}"
    for name in (
        *("add", "sub", "mul", "div", "neg", "abs", "reciprocal", "sqrt", "exp", "expm1", "log", "clamp", "where"),
        *("eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "bitwise_not", "bitwise_and", "bitwise_or"),
        *("masked_fill", "fill", "zero", "copy", "sum", "max", "min", "amax", "amin", "all", "any"),
    )
    for place in ("", "_")
}
ONE_TORCH_THREAD = {
    name
    for name, program in {
        "bfs": tg.algorithms.BFS,
        "sssp": tg.algorithms.SSSP,
        "wcc": tg.algorithms.WCC,
        "pagerank": tg.algorithms.PageRank,
        "pagerank, Gauss-Seidel": tg.algorithms.PageRank,
        "hits": tg.algorithms.HITS,
    }.items()
    if program.one_torch_thread
}

Call = Callable[[], Any]


def main() -> None:
    options = parsed(
        __doc__, hidden=["inner"], scale=20, threads=[16, 64], repeat=3, only=[], regions=False, inner=False
    )
    if options.inner:
        print(json.dumps(measured(options, *options.threads)))
        return
    rows = [row for threads in options.threads for row in in_process(options, threads)]
    save("serial", markdown(rows), {"machine": describe_machine(), "rows": rows})
    if options.regions:
        for row in rows:
            print(f"\n{row['algorithm']}, {row['threads']} threads\n\n{regions(row)}")


def in_process(options: argparse.Namespace, threads: int) -> list[dict[str, Any]]:
    """Measured where the kernels find so many processors, and OpenMP gives torch one."""
    command = ["bench.serial", "--inner", "--threads", threads, "--only", ",".join(options.only)]
    command += ["--scale", options.scale, "--repeat", options.repeat]
    return answer(*command, env={"TGRAPH_CPUS": str(threads), "OMP_THREAD_LIMIT": "1"})


def calls(weighted: tg.Graph) -> dict[str, Call]:
    """A call of each algorithm of tgraph.algorithms."""
    graph = tg.Graph(weighted.offset, weighted.neighbors, directed=False)
    hub = int(graph.out_degree.argmax())
    sources = graph.out_degree.topk(SOURCES).indices
    algorithms = tg.algorithms
    return {
        "bfs": lambda: algorithms.bfs(graph, hub),
        "sssp": lambda: algorithms.sssp(weighted, hub),
        "wcc": lambda: algorithms.wcc(graph),
        "pagerank": lambda: algorithms.pagerank(graph, tol=None, max_iterations=ITERATIONS),
        "pagerank, Gauss-Seidel": lambda: algorithms.pagerank(
            graph, tol=None, max_iterations=ITERATIONS, method="gauss-seidel"
        ),
        "hits": lambda: algorithms.hits(graph, tol=None, max_iterations=ITERATIONS),
        "betweenness": lambda: algorithms.betweenness(graph, sources),
        "core_number": lambda: algorithms.core_number(graph),
        "cdlp": lambda: algorithms.cdlp(graph),
        "triangle_count": lambda: algorithms.triangle_count(graph),
        "local_clustering": lambda: algorithms.local_clustering(graph),
    }


def measured(options: argparse.Namespace, threads: int) -> list[dict[str, Any]]:
    """A row for each algorithm: that of its fastest call."""
    torch.set_num_threads(threads)
    rows = []
    for name, call in calls(tg.generators.rmat(options.scale, weighted=True)).items():
        if options.only and name not in options.only:
            continue
        call()
        found = min((counted(call, threads) for _ in range(options.repeat)), key=lambda row: row["seconds"])
        of_torch = (0.0, 0.0) if name in ONE_TORCH_THREAD else torch_operations(call, threads)
        rows.append({"algorithm": name} | found | speed_ups(found, of_torch))
        print("{algorithm:24} {threads:3} {chunked:6.1f}".format(**rows[-1]), file=sys.stderr)
    return rows


def counted(call: Call, threads: int) -> dict[str, Any]:
    """Seconds of a call, and of its regions."""
    kernels = native.load()
    if kernels is None:
        raise SystemExit("the compiled kernels are not installed: without them there are no regions")
    kernels.take_census(True)
    try:
        start = time.thread_time()
        call()
        seconds = time.thread_time() - start
        places = kernels.census()
    finally:
        kernels.take_census(False)
    inside = sum(place["seconds"] for place in places)
    found = {"threads": threads, "seconds": seconds, "inside": inside, "outside": seconds - inside}
    return found | {"places": places}


def torch_operations(call: Call, threads: int) -> tuple[float, float]:
    """Seconds that operations of torch take which it cuts into parts, and what they would on so many threads."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        call()
    alone = spread = 0.0
    for event in profiled.events():
        sizes = [math.prod(shape) for shape in event.input_shapes if shape]
        parts = min(threads, max(sizes, default=0) // PART)
        if event.name in PARALLEL and parts > 1:
            seconds = event.self_cpu_time_total / 1e6
            alone, spread = alone + seconds, spread + seconds / parts
    return alone, spread


def speed_ups(found: dict[str, Any], of_torch: tuple[float, float]) -> dict[str, float]:
    """The speed-up that is left by Amdahl's law, and of chunks as they are."""
    alone, spread = of_torch
    outside = found["outside"] - alone + spread
    chunks = sum(place["spread"] for place in found["places"])
    return {
        "torch": alone,
        "amdahl": found["seconds"] / (outside + found["inside"] / found["threads"]),
        "chunked": found["seconds"] / (outside + chunks),
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = [
        [
            row["algorithm"], str(row["threads"]), f"{row['outside'] * 1e3:.2f}", f"{row['torch'] * 1e3:.2f}",
            f"{row['inside'] * 1e3:.1f}", f"{row['amdahl']:.1f}", f"{row['chunked']:.1f}",
        ]
        for row in rows
    ]  # fmt: skip
    return table(["algorithm", "threads", "outside, ms", "torch, ms", "inside, ms", "by Amdahl", "by chunks"], lines)


def regions(row: dict[str, Any]) -> str:
    """A line for each place, those that lose most first."""
    lines = []
    for place in sorted(row["places"], key=lambda place: -place["spread"]):
        share = place["longest_chunk"] / place["most"] if place["most"] else 0.0
        lines.append([
            f"{Path(place['file']).name}:{place['line']}", str(place["regions"]), str(place["chunks"]),
            str(place["threads"]), f"{place['seconds'] * 1e3:.2f}", f"{place['spread'] * 1e3:.3f}", f"{share:.1%}",
        ])  # fmt: skip
    return table(["place", "regions", "chunks", "threads", "ms", "ms if spread", "longest chunk"], lines)


if __name__ == "__main__":
    main()
