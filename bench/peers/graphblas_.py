"""python-graphblas on SuiteSparse:GraphBLAS: the textbook algorithms in its operations, as its users write them."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import Any

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring

from bench.arrays import DAMPING, TOLERANCE, Arrays, Description
from bench.peers import Kernel, Peer

PATIENCE = 10.0  # seconds, after which a loop of hundreds of iterations is given up


class System(Peer):
    name = "graphblas"

    def __init__(self, folder: Path, arrays: Arrays, description: Description, threads: int):
        gb.ss.config["nthreads"] = threads
        super().__init__(folder, arrays, description, threads)
        self.forms = ("graph", "weighted", "received", "share", *(() if self.directed else ("lower",)))

    @cached_property
    def graph(self) -> Matrix:
        return Matrix.from_csr(self.arrays.offset, self.arrays.neighbors, np.True_, ncols=self.n)

    @cached_property
    def weighted(self) -> Matrix:
        weights = self.arrays.weights.astype(np.int64)
        return Matrix.from_csr(self.arrays.offset, self.arrays.neighbors, weights, ncols=self.n)

    @cached_property
    def received(self) -> Matrix:
        offset, neighbors, _ = self.arrays.reverse()
        return Matrix.from_csr(offset, neighbors, np.float32(1), ncols=self.n)

    @cached_property
    def share(self) -> Vector:
        return Vector.from_dense((DAMPING / np.maximum(self.arrays.degree, 1)).astype(np.float32))

    @cached_property
    def lower(self) -> Matrix:
        return gb.select.tril(self.graph, -1).new()

    def kernels(self) -> dict[str, Kernel]:
        found = {
            "bfs": Kernel(self.bfs, lambda depth: depth.to_dense(fill_value=-1)),
            "sssp": Kernel(self.sssp, lambda distance: distance.to_dense(fill_value=-1)),
            "pagerank": Kernel(self.pagerank, lambda result: result[0].to_dense(), lambda result: result[1]),
        }
        if not self.directed:
            found["triangles"] = Kernel(self.triangles)
        return found

    def bfs(self, source: int) -> Any:
        """Levels, by pushing the frontier through the graph under a mask of what has been reached."""
        frontier, depth = Vector(bool, self.n), Vector("INT32", self.n)
        frontier[source] = True
        level, end = 0, time.perf_counter() + PATIENCE
        while frontier.nvals:
            depth(mask=frontier.S) << level
            frontier(~depth.S, replace=True) << semiring.any_pair(frontier @ self.graph)
            level += 1
            give_up_after(end)
        return depth

    def sssp(self, source: int) -> Any:
        """Bellman and Ford, sending only the distances that have just improved."""
        distance = Vector("INT64", self.n)
        distance[source] = 0
        active, end = distance.dup(), time.perf_counter() + PATIENCE
        while active.nvals:
            received = semiring.min_plus(active @ self.weighted).new()
            better = received.ewise_mult(distance, binary.lt).new()
            fresh = Vector(bool, self.n)
            fresh(~distance.S) << received.apply(gb.unary.one)
            fresh(better.V) << True
            active = Vector("INT64", self.n)
            active(fresh.S) << received
            distance(binary.min) << active
            give_up_after(end)
        return distance

    def pagerank(self, _: None) -> tuple[Any, int]:
        rank = Vector("FP32", self.n)
        rank << 1 / self.n
        iterations = 0
        while True:
            sent = rank.ewise_mult(self.share, binary.times).new()
            following = Vector("FP32", self.n)
            following << (1 - DAMPING) / self.n
            following(binary.plus) << semiring.plus_second(self.received @ sent)
            change = following.ewise_mult(rank, binary.minus).new().apply(gb.unary.abs).new()
            iterations += 1
            if float(change.reduce(monoid.plus)) <= TOLERANCE:
                return following, iterations
            rank = following

    def triangles(self, _: None) -> int:
        closed = semiring.plus_pair(self.lower @ self.lower).new(dtype="INT64", mask=self.lower.S)
        return int(closed.reduce_scalar(monoid.plus, allow_empty=False))


def give_up_after(end: float) -> None:
    if time.perf_counter() > end:
        raise TimeoutError(f"more than {PATIENCE:.0f} s")
