"""Features larger than the memory: the peak of aggregating them from disk to disk, and what that costs over memory.

    python -m bench.features [--memory 256MB] [--times 4] [--features 128] [--degree 16] [--threads 2] [--folder DIR]

Graph and features take so many `times` the memory. Peaks are those of a separate process (VmHWM), above the bare
import, and above what a first run on a tiny graph loads. Seconds are those of one run, files written and synced.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import tgraph as tg
from tgraph.stream.memory import parse_memory

BLOCKS = 64
HIDDEN = 64


def make(folder: Path, num_vertices: int, degree: int, width: int) -> int:
    """A random directed graph, a fifth of whose vertices get most arcs, and features by rows; returns their bytes."""
    folder.mkdir()
    generator = torch.Generator().manual_seed(0)
    src = (torch.rand(num_vertices * degree, generator=generator) ** 2 * num_vertices).long()
    dst = torch.randint(num_vertices, (num_vertices * degree,), generator=generator)
    graph = tg.Graph.from_edges(src, dst, num_vertices=num_vertices)
    tg.stream.write_partitioned(graph, folder / "graph.tg", BLOCKS)
    values = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (num_vertices, width))
    for begin in range(0, num_vertices, 1 << 16):
        rows = values[begin : begin + (1 << 16)]
        rows[:] = torch.rand(rows.shape, generator=generator).numpy()
    values.flush()
    return sum(path.stat().st_size for path in folder.iterdir())


def peak() -> int:
    """Bytes that this process has held at most, since its image was loaded."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def layer(folder: Path, memory: int, width: int) -> dict[str, float]:
    """A layer of GraphSAGE from files to files; the seconds of its steps."""
    graph = tg.open(folder / "graph.tg", memory)
    own, heard = torch.nn.Linear(width, HIDDEN), torch.nn.Linear(width, HIDDEN)
    x, mean, hidden, out = (folder / name for name in ("x.npy", "mean.npy", "hidden.npy", "out.npy"))
    return {
        "aggregate, by rows": timed(lambda: tg.stream.aggregate(graph, x, mean, "mean")),
        "apply": timed(
            lambda: tg.stream.apply((x, mean), lambda x, y: (own(x) + heard(y)).relu_(), hidden, memory=memory)
        ),
        "aggregate, by columns": timed(lambda: tg.stream.aggregate(graph, hidden, out, "max")),
    }


def timed(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def child(small: Path, large: Path, memory: int, width: int) -> None:
    """The measurement, in a separate process."""
    bare = peak()
    layer(small, memory, width)
    warm = peak()
    seconds = layer(large, memory, width)
    print(json.dumps({"seconds": seconds, "above import": peak() - bare, "above first run": peak() - warm}))


def in_memory(folder: Path) -> float:
    """Seconds of the same mean without files."""
    graph, values = tg.read(folder / "graph.tg"), torch.from_numpy(np.load(folder / "x.npy"))
    graph.transpose()
    return timed(lambda: tg.aggregate(graph, values, "mean"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--times", type=float, default=4)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="where the files go for the time being")
    options = parser.parse_args()
    memory, width = parse_memory(options.memory), options.features
    per_vertex = 4 * width + 8 * options.degree + 16
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        small, large = Path(name) / "small", Path(name) / "large"
        make(small, 1000, options.degree, width)
        size = make(large, int(options.times * memory / per_vertex), options.degree, width)
        arguments = [os.fspath(small), os.fspath(large), str(memory), str(width)]
        command = [sys.executable, "-m", "bench.features", "--child", *arguments]
        environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        found = json.loads(done.stdout)
        torch.set_num_threads(options.threads)
        print(f"{size / 1e6:,.0f} MB of graph and features, {memory / 1e6:,.0f} MB of memory")
        for what in ("above import", "above first run"):
            print(f"peak {what}: {found[what] / 1e6:,.0f} MB, {found[what] / memory:.2f} of the memory")
        for what, seconds in found["seconds"].items():
            print(f"{what}: {seconds:.1f} s")
        print(f"aggregate, all in memory: {in_memory(large):.1f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
