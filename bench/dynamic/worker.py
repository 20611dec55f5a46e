"""One system, one size of batches, in a process of its own.

    python -m bench.dynamic.worker --folder FOLDER --system tgraph --batch 1000 --threads 2 --seconds 20 [--delete]

Inserts the arcs behind the base until they or the seconds are at an end, or takes the base for all arcs and deletes
them in turn; prints as JSON how many arcs, in how many seconds, the seconds of each batch at some quantiles, and the
bytes of anonymous memory that the system has taken, at the end and at most between two batches. What is then there is
counted, and compared with the CSR where the system has one.
"""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.command import parsed
from bench.dynamic.stream import Stream
from bench.dynamic.systems import SYSTEMS, TGraph
from bench.measure import timed
from bench.process import resident
from bench.verify import require
from tgraph.stream.memory import trim_heap

LOOKS = 0.02  # seconds between two looks at the memory


def run(stream: Stream, name: str, batch: int, threads: int, limit: float, deletes: bool) -> dict[str, Any]:
    first = stream.num_arcs if deletes else stream.base
    gc.collect()
    before = resident("RssAnon")
    base = stream.arcs(0, first)
    system = SYSTEMS[name](stream.num_vertices, base, threads)
    del base
    gc.collect()  # no batch pays for what was imported and made so far
    step = system.delete if deletes else system.insert
    seconds, peak, looked, done = [], 0, 0.0, 0
    for arcs in stream.batches(batch, 0 if deletes else None):
        seconds.append(timed(step, arcs)[0])
        end = time.perf_counter()
        done += len(arcs[0])
        if end - looked > LOOKS:
            peak, looked = max(peak, resident("RssAnon")), end
        if sum(seconds) > limit:
            break
    expected = first - done if deletes else first + done
    settled, found = timed(system.arcs)
    require(found == expected, f"{name}: {found} arcs, not {expected}")
    if isinstance(system, TGraph):
        system.store.compact()
        time.sleep(1.0)  # for what the thread of the store is still at
        trim_heap()
    gc.collect()
    held = resident("RssAnon")
    if isinstance(system, TGraph):
        verify(stream, system, deletes, done)
    found_of = {"arcs": done, "seconds": float(sum(seconds)), "settled": settled, "kept": found}
    found_of |= {"median": float(np.median(seconds)), "longest": max(seconds), "vertices": stream.num_vertices}
    return found_of | {"held": held - before, "peak": peak - before}


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
    known = {"system": tuple(SYSTEMS)}
    options = parsed(__doc__, known, folder=Path, system="tgraph", batch=1000, threads=2, seconds=20.0, delete=False)
    stream = Stream(options.folder)
    found = run(stream, options.system, options.batch, options.threads, options.seconds, options.delete)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
