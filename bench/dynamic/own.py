"""The uses of a store of TGraph, beside the same on a graph that does not change."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from bench.dynamic.stream import Stream
from bench.measure import timed
from bench.verify import require

RUNS = 0.05  # of the arcs, in runs
BATCH = 100_000  # arcs in a batch, where the size does not matter

Algorithm = Callable[[tg.Graph], Tensor]


def algorithms(source: int) -> dict[str, Algorithm]:
    """The algorithms of the comparisons of stores in the documentation."""
    return {
        "PageRank, 20 iterations": lambda graph: tg.algorithms.pagerank(graph, tol=None, max_iterations=20),
        "BFS": lambda graph: tg.algorithms.bfs(graph, source),
        "components": lambda graph: tg.algorithms.wcc(graph),
        "SSSP": lambda graph: tg.algorithms.sssp(graph, source),
    }


class Edges(NamedTuple):
    """Undirected edges with weights, [k] each, in random order."""

    src: Tensor
    dst: Tensor
    weights: Tensor

    @classmethod
    def of(cls, stream: Stream) -> Edges:
        src, dst = (torch.from_numpy(ends) for ends in stream.arcs(0, stream.num_arcs))
        once = (src <= dst).nonzero().view(-1)
        weights = torch.randint(1, 256, (len(once),), generator=torch.Generator().manual_seed(2)).float()
        return cls(src[once], dst[once], weights)

    def store(self, num_vertices: int, in_runs: float) -> tg.dynamic.Store:
        """A store of all edges, of which such a share came last and lies in runs."""
        store = tg.dynamic.Store(torch.float32, directed=False, num_vertices=num_vertices)
        settled = round(len(self.src) * (1 - in_runs))
        store.insert(*(column[:settled] for column in self))
        store.compact()
        for begin in range(settled, len(self.src), BATCH):
            store.insert(*(column[begin : begin + BATCH] for column in self))
        return store

    def static(self, num_vertices: int) -> tg.Graph:
        """The graph of all edges, in tensors of its own at each call."""
        return tg.Graph.from_edges(
            self.src, self.dst, self.weights, num_vertices=num_vertices, directed=False, multi="keep"
        )


def analytics(stream: Stream, repeat: int) -> Iterator[list[str]]:
    """Rows of a table: ms of the first and of later calls on a graph that does not change, on a snapshot with 5 % in
    runs, and after compaction, the least of all turns."""
    edges, n = Edges.of(stream), stream.num_vertices
    source = int(np.argmax(np.diff(stream.offset)))
    kinds = {
        "static": lambda: edges.static(n),
        "runs": lambda: edges.store(n, RUNS),
        "compacted": lambda: edges.store(n, 0.0),
    }
    seconds: dict[tuple[str, str, str], list[float]] = {}
    for turn in range(repeat):
        for name, algorithm in algorithms(source).items():
            expected = None
            for kind, make in kinds.items():
                made = make()

                def call(made: Any = made, algorithm: Algorithm = algorithm) -> Tensor:
                    return algorithm(made if isinstance(made, tg.Graph) else made.snapshot())

                pending = 0 if isinstance(made, tg.Graph) else made.info()["changes in runs"]
                require((pending > 0) == (kind == "runs"), f"{kind}: {pending} changes in runs")
                for when in ("first", "later", "later"):
                    took, found = timed(call)
                    expected = found if expected is None else expected
                    require(torch.equal(found, expected), f"{name}: other values on {kind}")
                    if turn or repeat == 1:  # the first turn loads what is loaded once
                        seconds.setdefault((name, kind, when), []).append(took)
    yield ["", "static: first", "later", "5 % in runs: first", "later", "compacted: first", "later", "first", "later"]
    for name in algorithms(source):
        cells = {key[1:]: min(took) for key, took in seconds.items() if key[0] == name}
        shown = [1000 * cells[kind, when] for kind in kinds for when in ("first", "later")]
        over = [cells["runs", when] / cells["static", when] for when in ("first", "later")]
        yield [name, *(f"{ms:.1f}" for ms in shown), *(f"{ratio:.2f}" for ratio in over)]


def programs(source: int) -> dict[str, Any]:
    return {
        "BFS": tg.algorithms.BFS(source),
        "components": tg.algorithms.WCC(),
        "SSSP": tg.algorithms.SSSP(source),
        "PageRank, to 1e-6": tg.algorithms.PageRank(),
        "PageRank, to 1e-4": tg.algorithms.PageRank(tol=1e-4),
        "PageRank, to 1e-3": tg.algorithms.PageRank(tol=1e-3),
    }


def following(stream: Stream, batch: int = 1000, batches: int = 30) -> Iterator[list[str]]:
    """ms to bring results up to date after batches of undirected edges, half of all arcs: inserted, or half of them
    inserted and half deleted; beside a computation from nothing on the new version, which has it merged, and one again
    on the same."""
    edges, n = Edges.of(stream), stream.num_vertices
    source = int(np.argmax(np.diff(stream.offset)))
    head = ["ms", "inserts", "and deletions", "from nothing", "with the merge", "times: inserts", "and deletions"]
    yield [*head, "exact, or largest relative error"]
    for name, program in programs(source).items():
        store, other = (edges.store(n, RUNS) for _ in range(2))
        follow = tg.dynamic.follow(program, store)
        follow.update()
        took: dict[str, list[float]] = {}
        random = torch.Generator().manual_seed(3)
        for number in range(2 * batches):
            drawn = [torch.randint(n, (batch // 2,), generator=random) for _ in range(2)]
            for each in (store, other):
                each.insert(*drawn, torch.ones(batch // 2))
                if number >= batches:
                    gone = slice(number * batch, number * batch + batch // 2)
                    each.delete(edges.src[gone], edges.dst[gone])
            kind = "inserts" if number < batches else "deletions"
            took.setdefault(kind, []).append(timed(follow.update)[0])
            if number % 10 == 0:
                for of in ("merge", "nothing"):  # the first run on a version merges it
                    took.setdefault(of, []).append(timed(tg.run, program, other.snapshot())[0])
        run = tg.run(program, other.snapshot())
        exact = torch.equal(follow.values, run.values) or error_of(follow.values, other.snapshot(), program, name)
        figures = [1000 * statistics.median(took[kind]) for kind in ("inserts", "deletions", "nothing", "merge")]
        times = [figures[3] / figures[0], figures[3] / figures[1]]
        yield [name, *(f"{ms:.2f}" for ms in figures), *(f"{ratio:.0f}" for ratio in times), str(exact)]


def error_of(values: Tensor, graph: tg.Graph, program: Any, name: str) -> str:
    """The largest relative error of a rank, of those within the tolerance of the program in all."""
    ranks = tg.algorithms.pagerank(graph, tol=1e-9)
    bound = program.tolerance * program.damping / (1 - program.damping) + 1e-5
    require(float((values - ranks).abs().sum()) <= bound, f"{name}: other values")
    return f"{float(((values - ranks).abs() / ranks).max()):.0e}"


def sampling(stream: Stream, batches: int = 40) -> Iterator[list[str]]:
    """Million arcs per second that a neighbour sampler draws from a graph that does not change, and from a snapshot."""
    edges, n = Edges.of(stream), stream.num_vertices
    size = min(1024, n // batches)
    seeds = torch.randperm(n, generator=torch.Generator().manual_seed(0))[: batches * size].split(size)
    store = edges.store(n, RUNS)
    took, found = timed(lambda: tg.sampling.NeighborSampler(store.snapshot(), [15, 10], seed=1).sample(seeds[0]))
    graphs = {"static": edges.static(n), "snapshot": store.snapshot()}
    samplers = {name: tg.sampling.NeighborSampler(graph, [15, 10], seed=1) for name, graph in graphs.items()}
    rates: dict[str, list[float]] = {name: [] for name in samplers}
    for number, chosen in enumerate(seeds):
        sampled = {}
        for name, sampler in samplers.items():
            seconds, sampled[name] = timed(sampler.sample, chosen, draw=number)
            rates[name].append(len(sampled[name].row) / seconds)
        require(torch.equal(sampled["static"].node, sampled["snapshot"].node), "other vertices are sampled")
    yield ["graph", "million arcs per second"]
    for name, rate in rates.items():
        yield [name, f"{statistics.median(rate[1:]) / 1e6:.1f}"]
    yield ["the first batch of the snapshot", f"{len(found.row) / took / 1e6:.1f}"]


def snapshots(stream: Stream, repeat: int = 200) -> Iterator[list[str]]:
    """Microseconds of `snapshot()`, with 5 % of the arcs in runs, each after a batch of its own."""
    store = Edges.of(stream).store(stream.num_vertices, RUNS)
    took = []
    for number in range(repeat):
        store.insert([number], [number + 1], [1.0])
        took.append(timed(store.snapshot)[0])
    yield ["snapshot", "median, µs", "longest, µs"]
    yield ["", f"{1e6 * statistics.median(took):.0f}", f"{1e6 * max(took):.0f}"]


def single_arcs(stream: Stream, seconds: float = 3.0) -> Iterator[list[str]]:
    """Batches of few arcs with a read of ten rows after each, as for a store whose rows have gaps: µs of both."""
    yield ["arcs of a batch", "insert, µs", "ten rows, µs", "read, at the 99th of 100, µs"]
    random = np.random.default_rng(0)
    for size in (1, 10, 100, 1000):
        store = Edges.of(stream).store(stream.num_vertices, 0.5 if stream.num_arcs < 1 << 20 else RUNS)
        inserts, reads, end = [], [], time.perf_counter() + seconds
        for src, dst in stream.batches(size):
            inserts.append(timed(store.insert, src, dst, np.ones(len(src)))[0])
            wanted = torch.from_numpy(random.integers(stream.num_vertices, size=10))
            reads.append(timed(store.neighbors, wanted)[0])
            if time.perf_counter() > end:
                break
        figures = (statistics.median(inserts), statistics.median(reads), np.quantile(reads, 0.99))
        yield [f"{size:,}", *(f"{1e6 * figure:.0f}" for figure in figures)]
