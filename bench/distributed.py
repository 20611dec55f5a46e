"""Graphs that are spread over ranks on one machine, beside one process with as many threads.

    python -m bench.distributed [--scale 20] [--ranks 2] [--graphs rmat,uniform] [--repeat 5] [--output bench/results]

PageRank of ten iterations, BFS, components and SSSP: the ranks, of one thread each, and the one process take turns,
each after a pause, and what the ranks compute is compared with what the process does. A cell has the median of the
ratios within a turn, the bytes that all ranks sent in a call, and the least that the partition needs for PageRank: 4
bytes for every mirror in every iteration. Writes distributed.json and distributed.md.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

import tgraph as tg
from bench.command import RESULTS, parsed
from bench.machine import describe_machine
from bench.measure import timed
from bench.results import save, table

ITERATIONS = 10
PAUSE = 0.05  # seconds after which threads that wait for more work have gone to sleep

CALLS: dict[str, Callable[[tg.Graph, int], Tensor]] = {
    "pagerank": lambda graph, source: tg.algorithms.pagerank(graph, tol=None, max_iterations=ITERATIONS),
    "bfs": lambda graph, source: tg.algorithms.bfs(graph, source),
    "components": lambda graph, source: tg.algorithms.wcc(graph),
    "sssp": lambda graph, source: tg.algorithms.sssp(graph, source),
}


def as_rank(rank: int, ranks: int, folder: str, pipe: Connection) -> None:
    """A rank: it computes what it is asked for, and tells seconds, bytes sent, mirrors and, of rank 0, the values."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
    graph = tg.distributed.open(Path(folder, "graph.tg"))
    part = graph.layout.part  # type: ignore[union-attr]
    channels = (part.requests, part.replies)
    pipe.send((part.nbytes, len(part.mirrors)))
    while (asked := pipe.recv()) is not None:
        name, source, wants_values = asked
        before = sum(channel.bytes_sent for channel in channels)
        dist.barrier()
        seconds, values = timed(CALLS[name], graph, source)
        sent = sum(channel.bytes_sent for channel in channels) - before
        whole = tg.distributed.gather(graph, values) if wants_values else None
        pipe.send((seconds, sent, whole.numpy() if whole is not None and not rank else None))


class Ranks:
    """The processes of a group."""

    def __init__(self, ranks: int, folder: str):
        context = multiprocessing.get_context("spawn")
        os.environ["OMP_NUM_THREADS"] = "1"
        ends = [context.Pipe() for _ in range(ranks)]
        self.pipes = [mine for mine, _ in ends]
        self.processes = [
            context.Process(target=as_rank, args=(rank, ranks, folder, ends[rank][1]), daemon=True)
            for rank in range(ranks)
        ]
        for process in self.processes:
            process.start()
        self.sizes = [pipe.recv() for pipe in self.pipes]
        del os.environ["OMP_NUM_THREADS"]

    def ask(self, *asked: Any) -> list[Any]:
        for pipe in self.pipes:
            pipe.send(asked)
        return [pipe.recv() for pipe in self.pipes]

    def stop(self) -> None:
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join()


def compare(name: str, graph: tg.Graph, ranks: int, repeat: int) -> list[dict[str, Any]]:
    """A cell for each algorithm on a graph."""
    source, cells = int(graph.out_degree.argmax()), []
    with tempfile.TemporaryDirectory() as folder:
        tg.stream.write_partitioned(graph, Path(folder, "graph.tg"), parts=ranks)
        whole = tg.read(Path(folder, "graph.tg"))
        running = Ranks(ranks, folder)
        for algorithm, call in CALLS.items():
            for _ in range(2):
                wanted, found = call(whole, source), running.ask(algorithm, source, True)
            check(algorithm, wanted, torch.from_numpy(found[0][2]))
            alone, spread, sent = [], [], 0
            for _ in range(repeat):
                alone.append(timed(call, whole, source)[0])
                time.sleep(PAUSE)
                answers = running.ask(algorithm, source, False)
                time.sleep(PAUSE)
                spread.append(max(seconds for seconds, *_ in answers))
                sent = sum(each for _, each, _ in answers)
            mirrors = sum(count for _, count in running.sizes)
            ratio = statistics.median(b / a for a, b in zip(alone, spread, strict=True))
            least = 4 * mirrors * ITERATIONS if algorithm == "pagerank" else None
            cell = {"graph": name, "algorithm": algorithm, "alone": alone, "ranks": spread, "ratio": ratio}
            cells.append(cell | {"bytes": sent, "least": least})
            print(cells[-1], flush=True)
        share = whole.nbytes / ranks + 12 * mirrors / ranks
        cells.append({"graph": name, "bytes of a part over share": max(size for size, _ in running.sizes) / share})
        running.stop()
    return cells


def check(algorithm: str, wanted: Tensor, found: Tensor) -> None:
    same = torch.allclose(wanted, found, rtol=1e-6) if algorithm == "pagerank" else torch.equal(wanted, found)
    if not same:
        raise RuntimeError(f"{algorithm}: the ranks computed something else")


def markdown(cells: list[dict[str, Any]]) -> str:
    rows = []
    for cell in cells:
        if "algorithm" not in cell:
            continue
        least = "" if cell["least"] is None else f"{cell['bytes'] / cell['least']:.3f}"
        times = [f"{1000 * statistics.median(cell[kind]):.1f}" for kind in ("alone", "ranks")]
        rows.append([cell["graph"], cell["algorithm"], *times, f"{cell['ratio']:.2f}", f"{cell['bytes']:,}", least])
    return table(["", "", "one process, ms", "ranks, ms", "ratio", "bytes sent", "of the least"], rows)


def main() -> None:
    arguments = parsed(__doc__, scale=20, ranks=2, graphs=["rmat", "uniform"], repeat=5, output=RESULTS)
    torch.set_num_threads(arguments.ranks)
    makers = {"rmat": tg.generators.rmat, "uniform": tg.generators.uniform}
    cells = []
    for name in arguments.graphs:
        graph = makers[name](arguments.scale, 16, weighted=True)
        cells += compare(f"{name}-{arguments.scale}", graph, arguments.ranks, arguments.repeat)
    found = {"machine": describe_machine(), "ranks": arguments.ranks, "cells": cells}
    save("distributed", markdown(cells), found, arguments.output)


if __name__ == "__main__":
    main()
