"""A graph on several ranks, each held to its memory by the system: PageRank, a search and components.

    python -m bench.distributed_memory [--arcs 5e8] [--vertices 4e6] [--ranks 4] [--limit 1.2e9] [--memory MEMORY]
        [--folder FOLDER]

The graph is given by a rule, so that its file is written block by block and results are checked without it: vertex v is
joined to a_k - v modulo n, for some constants a_k, where the lower of both is below a limit that rises with k. Degrees
thus fall from low vertices to high ones, and a part of p has arcs to nearly all vertices of other ranks, which is the
most that mirrors can take. A control group of Linux holds each rank to --limit, of which Python and torch take 250 MB,
page cache included. With --memory parts are read block by block, within that: --limit may be less than they have. All
ranks run on this machine: the times are those of so many processes on its cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

import tgraph as tg
from bench.command import parsed
from bench.measure import timed
from bench.process import resident, within
from bench.verify import require
from examples.products import PEAKS, control_group
from tgraph.core.building import sorting
from tgraph.core.rows import offset_of
from tgraph.files.atomic_write import whole_file
from tgraph.stream.file.writing import (
    BlockWriter,
    GraphInfo,
    balanced_bounds,
    cut,
    file_size,
    local_offset,
    resident_tensors,
)

BLOCK = 1 << 22  # arcs
ITERATIONS = 10  # of PageRank
SOURCE = 1
VALUE = 4  # bytes


class Rule:
    """The graph of n vertices with about so many arcs."""

    def __init__(self, vertices: int, arcs: int):
        self.n = n = vertices
        count = max(round(1.5 * arcs / n), 1)  # two thirds of them remain on average
        self.sums = np.random.default_rng(0).choice(n, count, replace=False)
        self.limits = ((np.arange(count) + 1) / count * n).astype(np.int64)

    def ends(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(the other end by each constant, [k, constants]; whether there is such an arc)"""
        others = (self.sums - vertices[:, None]) % self.n
        return others, np.minimum(vertices[:, None], others) < self.limits

    def degrees(self) -> np.ndarray:
        """Of all vertices, int64 [n]."""
        return np.concatenate([self.ends(part)[1].sum(1) for part in self.parts()])

    def parts(self) -> Iterator[np.ndarray]:
        """All vertices, some at a time."""
        size = max(BLOCK // len(self.sums), 1)
        for begin in range(0, self.n, size):
            yield np.arange(begin, min(begin + size, self.n))

    def pull(self, x: np.ndarray) -> np.ndarray:
        """The sums of `x` [n] over the neighbors of each vertex."""
        total, vertex = np.zeros(self.n), np.arange(self.n)
        for number, limit in zip(self.sums, self.limits, strict=True):
            received = np.roll(x[::-1], number + 1)  # x[(number - v) % n]
            other = np.roll(vertex[::-1], number + 1)
            total += np.where(np.minimum(vertex, other) < limit, received, 0)
        return total


def write(rule: Rule, path: Path, ranks: int) -> int:
    """The file of the graph, in a multiple of `ranks` blocks; how many arcs it has."""
    offset = offset_of(torch.from_numpy(rule.degrees()))
    arcs = int(offset[-1])
    blocks = ranks * -(-arcs // (BLOCK * ranks))
    plan = cut(offset, balanced_bounds(offset, blocks))
    info = GraphInfo(rule.n, arcs, False, sorting.index_dtype(rule.n), None)
    resident = resident_tensors([offset], None, None)
    with whole_file(path, file_size([plan], resident, info)) as file:
        writer = BlockWriter(file, info)
        for block in plan:
            others, there = rule.ends(np.arange(block.first_row, block.end_row))
            others[~there] = rule.n
            others.sort(1)
            found = torch.from_numpy(others[others < rule.n].astype(np.int32))
            first = block.first_arc - int(offset[block.first_row])
            neighbors = found[first : first + block.end_arc - block.first_arc]
            writer.block(0, block, local_offset(offset, block), neighbors, None)
        writer.finish(resident)
    return arcs


# ---- a rank ----------------------------------------------------------------------------------------------------------


def as_rank(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one rank. Results of all vertices are written by the first."""
    torch.set_num_threads(options.threads)
    began = time.perf_counter()
    dist.init_process_group("gloo")
    programs = {
        "pagerank": tg.algorithms.PageRank(tol=0, max_iterations=ITERATIONS),
        "bfs": tg.algorithms.BFS(SOURCE),
        "wcc": tg.algorithms.WCC(),
    }
    small = tg.distributed.spread(tg.generators.grid2d(8, 8))
    for program in programs.values():  # what they import is not of the graph
        values_of(program, small)
    held = {"start": resident("VmHWM")}
    graph = tg.distributed.open(options.folder / "graph.tg", memory=options.memory)
    seconds = {"open": time.perf_counter() - began}
    held["open"] = resident("VmHWM")
    for name, program in programs.items():
        seconds[name], values = timed(values_of, program, graph)
        held[name] = resident("VmHWM")
        np.save(options.folder / f"{name}-{dist.get_rank()}.npy", values.to_local().numpy())
    layout: Any = graph.layout
    part, read = layout.part, layout.counts
    require((read is None) == (options.memory is None), "parts that fit the memory")
    sizes = {"arcs": part.num_arcs, "own": part.num_own, "mirrors": len(part.mirrors)}
    sizes["part"] = part.nbytes + (0 if read is None else VALUE * part.num_arcs)
    dist.destroy_process_group()
    return {"seconds": seconds, "resident": held, "read": str(read or "no blocks"), **sizes}


def values_of(program: tg.Program, graph: tg.Graph) -> Tensor:
    """The values of a run, which may end with its last iteration."""
    try:
        return tg.run(program, graph).values
    except tg.errors.NotConvergedError as stopped:
        return stopped.run.values


# ---- all of them -----------------------------------------------------------------------------------------------------


def check(rule: Rule, folder: Path, ranks: int) -> None:
    """Compare the results with those by the rule."""
    found = {
        name: np.concatenate([np.load(folder / f"{name}-{rank}.npy") for rank in range(ranks)])
        for name in ("pagerank", "bfs", "wcc")
    }
    degree = rule.degrees()
    rank = np.full(rule.n, 1 / rule.n)
    for _ in range(ITERATIONS):
        scaled = np.where(degree > 0, rank / np.maximum(degree, 1), 0)
        rank = 0.15 / rule.n + 0.85 * (rule.pull(scaled) + rank[degree == 0].sum() / rule.n)
    require(np.allclose(found["pagerank"], rank, rtol=1e-4, atol=0), "other ranks")
    depth = np.full(rule.n, -1)
    depth[SOURCE], level = 0, 0
    while (fresh := (rule.pull(depth == level) > 0) & (depth < 0)).any():
        level += 1
        depth[fresh] = level
    require(np.array_equal(found["bfs"], depth), "other depths")
    label = found["wcc"]
    for part in rule.parts():
        others, there = rule.ends(part)
        require(bool((label[others][there] == np.broadcast_to(label[part][:, None], there.shape)[there]).all()), "cut")
    require(bool((label <= np.arange(rule.n)).all() and (label[label] == label).all()), "labels that are no vertices")
    reached = depth >= 0
    require(bool((label[reached] == label[SOURCE]).all()), "a component in pieces")


def run(options: argparse.Namespace, folder: Path) -> None:
    rule = Rule(int(options.vertices), int(options.arcs))
    seconds, arcs = timed(write, rule, folder / "graph.tg", options.ranks)
    print(f"{rule.n:,} vertices, {arcs:,} arcs, written in {seconds:.0f} s", flush=True)
    with ExitStack() as stack:
        groups = [stack.enter_context(control_group(int(options.limit), f"-{rank}")) for rank in range(options.ranks)]
        print(f"each rank is held to {options.limit / 1e9:g} GB" if groups[0] else "not held: no control group")
        started = [
            stack.enter_context(subprocess.Popen(**_rank(options, folder, rank, group), stdout=subprocess.PIPE))
            for rank, group in enumerate(groups)
        ]
        told = [process.communicate()[0] for process in started]
        require(not any(process.returncode for process in started), "a rank failed, or was killed for its memory")
        peaks = [_peak(group) for group in groups]
    for rank, (said, peak) in enumerate(zip(told, peaks, strict=True)):
        found = json.loads(said)
        seconds = ", ".join(f"{name} {value:.1f} s" for name, value in found["seconds"].items())
        held = ", ".join(f"{name} {value / 1e6:.0f}" for name, value in found["resident"].items())
        share = found["part"] + VALUE * (found["own"] + found["mirrors"])
        taken = max(found["resident"].values()) - found["resident"]["start"]
        print(
            f"rank {rank}: {found['own']:,} vertices, {found['arcs']:,} arcs, {found['mirrors']:,} mirrors, part of "
            f"{found['part'] / 1e6:.0f} MB; {seconds}; at most MB resident after {held}: since the start "
            f"{taken / share:.2f} times the part and a value for each vertex in it; {found['read']}; {peak}",
            flush=True,
        )
    check(rule, folder, options.ranks)
    print("checked: as by the rule")


def _rank(options: argparse.Namespace, folder: Path, rank: int, group: Path | None) -> dict[str, Any]:
    """The arguments of Popen for a rank, in its control group if there is one."""
    command = [sys.executable, "-m", "bench.distributed_memory", "--rank", str(rank), "--folder", str(folder)]
    command += ["--threads", str(options.threads), *(["--memory", options.memory] if options.memory else [])]
    told = {"RANK": rank, "WORLD_SIZE": options.ranks, "MASTER_ADDR": "localhost", "MASTER_PORT": options.port}
    return {"args": within(group, command), "env": os.environ | {name: str(value) for name, value in told.items()}}


def _peak(group: Path | None) -> str:
    for name in PEAKS if group is not None else ():
        if group is not None and (group / name).exists():
            return f"{int((group / name).read_text()) / 1e6:.0f} MB by the system, page cache included"
    return "not held"


def main() -> None:
    options = parsed(
        __doc__,
        hidden=["rank"],
        arcs=5e8, vertices=4e6, ranks=4, limit=1.2e9, memory=str, threads=1, port=29653, folder=Path, rank=int,
    )  # fmt: skip
    if options.rank is not None:
        print(json.dumps(as_rank(options)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        run(options, Path(folder))


if __name__ == "__main__":
    main()
