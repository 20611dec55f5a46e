"""A graph of several times the memory that it may have: inserts and reads of rows, beside the same in memory.

    python -m bench.dynamic.larger [--arcs 2e8] [--vertices 4e6] [--arcs-memory 2e8] [--limit 6e8] [--folder FOLDER]

Arcs between vertices drawn with a preference for low numbers, in batches, into a store in a folder (`sync="never"`: the
disk is what limits) that may take --arcs-memory; a control group of Linux holds its process, the page cache included,
to --limit, of which Python and torch take 250 MB. Then the same in memory, not held. Both end with the same number of
arcs, and the same rows where some are compared. Programs are not measured: they may take more than the arcs do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.dynamic.stream import Ends
from bench.verify import require
from examples.products import control_group

ROWS = 10_000  # that are read


def drawn(vertices: int, arcs: int, batch: int) -> Iterator[Ends]:
    for number, _ in enumerate(range(0, arcs, batch)):
        ends = np.random.default_rng(number).random((2, batch), dtype=np.float32)
        src, dst = (ends**3 * vertices).astype(np.int32)
        yield src, dst


def measure(options: argparse.Namespace) -> dict[str, Any]:
    torch.set_num_threads(options.threads)
    arcs, vertices = int(options.arcs), int(options.vertices)
    if options.held:
        store = tg.dynamic.open(
            options.folder / "larger.tgd", num_vertices=vertices, sync="never", memory=int(options.arcs_memory)
        )
    else:
        store = tg.dynamic.Store(num_vertices=vertices)
    inserting = 0.0
    for src, dst in drawn(vertices, arcs, options.batch):
        begin = time.perf_counter()
        store.insert(src, dst)
        inserting += time.perf_counter() - begin
    begin = time.perf_counter()
    store.compact()
    compacting = time.perf_counter() - begin
    wanted = torch.randint(vertices, (ROWS,), generator=torch.Generator().manual_seed(0))
    begin = time.perf_counter()
    offset, neighbors, _ = store.neighbors(wanted)
    reading = time.perf_counter() - begin
    rows = [int(offset[-1]), int(neighbors.long().sum())]
    arcs = store.snapshot().num_arcs
    return {"arcs": arcs, "insert": inserting, "compact": compacting, "read": reading, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arcs", type=float, default=2e8)
    parser.add_argument("--vertices", type=float, default=4e6)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--arcs-memory", type=float, default=2e8)
    parser.add_argument("--limit", type=float, default=6e8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--held", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options)))
        return
    found = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for held in (True, False):
            with control_group(int(options.limit)) if held else nullcontext() as group:
                command = [sys.executable, "-m", "bench.dynamic.larger", *sys.argv[1:], "--folder", folder, "--measure"]
                command += ["--held"] if held else []
                if group is not None:
                    command = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *command]
                elif held:
                    print("not held: no control group can be made")
                found[held] = run = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            print(
                f"{'in a folder, held' if held else 'in memory'}: {run['arcs']:,} arcs, "
                f"{options.arcs / run['insert'] / 1e6:.2f} M arcs/s, compacted in {run['compact']:.1f} s, "
                f"{ROWS:,} rows read in {1000 * run['read']:.0f} ms",
                flush=True,
            )
    require(found[True]["arcs"] == found[False]["arcs"], "other numbers of arcs")
    require(found[True]["rows"] == found[False]["rows"], "other rows")


if __name__ == "__main__":
    main()
