"""The limits of the machine: its rates of streaming and of gathering, measured, and the least that a kernel must move.

A kernel cannot take less than its compulsory bytes over the bandwidth. Where the ids of vertices are shuffled it also
cannot beat its gathers (reads of one entry of vertex data at a random place) over the rate of random gathers from a
table of that size. On graphs whose neighbours lie close together gathers are cheaper than random ones, and a loop that
adds up what it gathers is faster than torch.index_select, which is the probe: the second bound can be beaten.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from bench.arrays import Arrays
from bench.measure import in_turns

STREAMED = 512 << 20  # bytes
GATHERED = 1 << 24  # entries
TABLES = (4 << 20, 64 << 20, 512 << 20)  # bytes
NEIGHBOR, OFFSET = 4, 8  # bytes


@dataclass
class Limits:
    """bandwidth : bytes a second of a streaming read. gathers : {bytes of the table: gathers of float32 a second}."""

    threads: int
    bandwidth: float
    gathers: dict[int, float]

    def gather_rate(self, table: float) -> float:
        """From a table of about that size."""
        return self.gathers[min(self.gathers, key=lambda size: abs(np.log(size / max(table, 1))))]


def measure(threads: int, shrink: int = 1, repeat: int = 5) -> Limits:
    """Probe the machine with so many threads; `shrink` divides the sizes of the probes."""
    words = torch.ones(STREAMED // shrink // 8, dtype=torch.int64)
    bandwidth = words.nbytes / fastest(words.sum, repeat)
    random = torch.Generator().manual_seed(0)
    rates = {}
    for table in TABLES:
        values = torch.rand(table // 4, generator=random)
        where = torch.randint(table // 4, (GATHERED // shrink,), generator=random, dtype=torch.int32)
        rates[table] = len(where) / fastest(gathering(values, where, threads), repeat)
    return Limits(threads, bandwidth, rates)


def gathering(values: torch.Tensor, where: torch.Tensor, threads: int) -> Callable[[], object]:
    """A function that gathers with so many threads: torch.index_select itself uses one."""
    parts = where.chunk(threads)
    found = [torch.empty(len(part)) for part in parts]
    pool = ThreadPoolExecutor(threads)

    def gather() -> object:
        return list(pool.map(lambda i: torch.index_select(values, 0, parts[i], out=found[i]), range(len(parts))))

    return gather


def fastest(work: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest of some calls after an untimed one: a limit is what is possible at all."""
    return min(in_turns({"work": work}, repeat)["work"])


@dataclass(frozen=True)
class Work:
    """The least that a kernel moves. `formula` tells how `streamed` (bytes) and `gathered` (entries) were counted."""

    formula: str
    streamed: float
    gathered: float
    table: float

    def seconds(self, limits: Limits) -> tuple[float, float]:
        """The two bounds: by bandwidth, by random gathers."""
        return self.streamed / limits.bandwidth, self.gathered / limits.gather_rate(self.table)


def work(arrays: Arrays) -> dict[str, Work]:
    """{kernel: its least work}. n vertices, m stored arcs; offsets of 8 bytes, others of 4. Searches are
    counted as if they reached everything, PageRank is one iteration."""
    n, m = arrays.num_vertices, arrays.num_arcs
    rows, sweep = OFFSET * n, NEIGHBOR * m + OFFSET * n
    found = {
        "bfs": Work("8n + 4n B (offsets, depths); n gathers (one arc enters each vertex)", rows + 4 * n, n, n / 8),
        "sssp": Work("8m + 16n B (arcs with weights, offsets, distances); m gathers", sweep + 4 * m + 8 * n, m, 8 * n),
        "wcc": Work("8n + 8n B (offsets, labels); n gathers (one arc ties each vertex)", rows + 8 * n, n, 8 * n),
        "pagerank": Work("4m + 8n + 12n B an iteration (arcs, offsets, ranks); m gathers", sweep + 12 * n, m, 4 * n),
        "betweenness": Work("4 x 2 (4m + 8n + 16n) B (forth and back); 8m gathers", 8 * (sweep + 16 * n), 8 * m, 8 * n),
        "cores": Work("4m + 8n + 8n B; m gathers", sweep + 8 * n, m, 4 * n),
        "labels": Work("10 (4m + 8n + 8n) B; 10m gathers", 10 * (sweep + 8 * n), 10 * m, 4 * n),
    }
    found["pagerank-gs"] = found["pagerank"]
    if not arrays.directed:
        bytes_of_shorter = NEIGHBOR * shorter_rows(arrays)
        formula = "4 B times the sum over edges of the shorter row, arcs towards larger degree only; no gathers"
        found["triangles"] = Work(formula, bytes_of_shorter, 0, 4 * n)
    return found


def shorter_rows(arrays: Arrays) -> int:
    """The sum over edges of the smaller out-degree of its ends, arcs pointing to the vertex of larger degree."""
    rows, degree = arrays.rows, arrays.degree
    rank = np.empty(len(degree), dtype=np.int32)
    rank[np.argsort(degree, kind="stable")] = np.arange(len(degree), dtype=np.int32)
    up = rank[rows] < rank[arrays.neighbors]
    tails, heads = rows[up], arrays.neighbors[up]
    out = np.bincount(tails, minlength=len(degree))
    return int(np.minimum(out[tails], out[heads]).sum())
