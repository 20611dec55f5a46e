"""One system, one size of batches, in a process of its own.

    python -m bench.dynamic.worker FOLDER SYSTEM BATCH --threads 2 --seconds 20 [--delete]

Inserts the arcs behind the base until they or the seconds are at an end, or takes the base for all arcs and deletes
them in turn; prints as JSON how many arcs, in how many seconds, the seconds of each batch at some quantiles, and the
bytes of anonymous memory that the system has taken, at the end and at most between two batches. What is then there is
counted, and compared with the CSR where the system has one.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.dynamic.stream import Stream
from bench.dynamic.systems import SYSTEMS, TGraph
from bench.verify import require
from tgraph.stream.memory import trim_heap

LOOKS = 0.02  # seconds between two looks at the memory


def resident() -> int:
    """Bytes of anonymous memory of this process: what is mapped from files does not count."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def run(stream: Stream, name: str, batch: int, threads: int, limit: float, deletes: bool) -> dict[str, Any]:
    first = stream.num_arcs if deletes else stream.base
    gc.collect()
    before = resident()
    base = stream.arcs(0, first)
    system = SYSTEMS[name](stream.num_vertices, base, threads)
    del base
    step = system.delete if deletes else system.insert
    seconds, peak, looked, done = [], 0, 0.0, 0
    for arcs in stream.batches(batch, 0 if deletes else None):
        begin = time.perf_counter()
        step(arcs)
        end = time.perf_counter()
        seconds.append(end - begin)
        done += len(arcs[0])
        if end - looked > LOOKS:
            peak, looked = max(peak, resident()), end
        if sum(seconds) > limit:
            break
    expected = first - done if deletes else first + done
    begin = time.perf_counter()
    found = system.arcs()
    settled = time.perf_counter() - begin
    require(found == expected, f"{name}: {found} arcs, not {expected}")
    if isinstance(system, TGraph):
        system.store.compact()
        time.sleep(1.0)  # for what the thread of the store is still at
        trim_heap()
    gc.collect()
    held = resident()
    if isinstance(system, TGraph):
        verify(stream, system, deletes, done)
    ordered = np.sort(seconds)
    return {
        "arcs": done,
        "seconds": float(sum(seconds)),
        "median": float(np.median(ordered)),
        "longest": float(ordered[-1]),
        "settled": settled,
        "held": held - before,
        "peak": peak - before,
        "kept": found,
        "vertices": stream.num_vertices,
    }


def verify(stream: Stream, system: TGraph, deletes: bool, done: int) -> None:
    """The CSR of the store is that of the arcs which should be there."""
    import tgraph as tg

    graph = system.store.snapshot()
    if done == stream.num_arcs - (0 if deletes else stream.base):
        expected = None if deletes else stream.static()
    else:
        first, last = (done, stream.num_arcs) if deletes else (0, stream.base + done)
        src, dst = (torch.from_numpy(ends) for ends in stream.arcs(first, last))
        expected = tg.Graph.from_edges(src, dst, num_vertices=stream.num_vertices)
    same = graph.num_arcs == 0 if expected is None else torch.equal(graph.offset, expected.offset)
    require(same, "other degrees")
    require(expected is None or torch.equal(graph.neighbors, expected.neighbors), "other neighbors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("batch", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--delete", action="store_true")
    options = parser.parse_args()
    stream = Stream(options.folder)
    found = run(stream, options.system, options.batch, options.threads, options.seconds, options.delete)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
