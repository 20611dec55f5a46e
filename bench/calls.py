"""The overhead of a call on small graphs: every algorithm and `aggregate` on a few arcs, 2,600 and 100,000; the first
call on a graph, the following ones, and the share of these inside compiled kernels, compared with peers.

    python -m bench.calls [--output calls.json]

prints Markdown for one thread and for all; results are verified as in `bench.analytics`. With --json it measures in
this process, with as many threads as OMP_NUM_THREADS says, and prints the rows. Peers that are not installed are left
out. Where no compiled kernel serves a call, the operations of the backend take its place.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

import tgraph as tg
from bench import measure, peers, report
from bench.analytics import run_json
from bench.arrays import Arrays, Description
from bench.command import parsed
from bench.graphs import describe, store
from bench.kernels import KERNELS
from bench.peers import Kernel
from bench.verify import require
from bench.worker import verified
from tgraph.core.system import native
from tgraph.kernels import BACKENDS

SYSTEMS = ("tgraph", "networkit", "igraph", "scipy", "rustworkx")
SETTINGS = measure.Settings(repeat=20, budget=0.3)
REPEAT = 100  # calls of which the part inside kernels is measured


class Stopwatch:
    """Adds up the time inside the functions of a module; a call within a call counts once."""

    def __init__(self) -> None:
        self.seconds, self.inside, self.calls = 0.0, 0, 0

    def watch(self, module: ModuleType) -> None:
        for name, function in list(vars(module).items()):
            if callable(function) and not name.startswith("_") and name != "refuses":
                setattr(
                    module, name, self.timed_class(function) if isinstance(function, type) else self.timed(function)
                )

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.inside += 1
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.inside -= 1
                if not self.inside:
                    self.seconds += time.perf_counter() - start
                    self.calls += 1

        return call

    def timed_class(self, kind: type) -> Callable[..., Any]:
        """Makes objects whose making and methods are timed."""
        watch = self

        class Timed:
            def __init__(self, *arguments: Any):
                self.held = watch.timed(kind)(*arguments)

            def __getattr__(self, name: str) -> Any:
                found = getattr(self.held, name)
                return watch.timed(found) if callable(found) else found

        return Timed

    def read(self) -> tuple[float, int]:
        """Seconds and calls since the last reading."""
        found = self.seconds, self.calls
        self.seconds, self.calls = 0.0, 0
        return found


@dataclass
class Case:
    """A kernel on one graph: `call` of the argument for each system that has it, `fresh` makes the TGraph call on a
    graph of which nothing is derived yet, and `check` raises WrongResult."""

    title: str
    argument: Any
    systems: dict[str, Kernel]
    fresh: Callable[[], Kernel]
    check: Callable[[str, Any, np.ndarray], None]


def graphs() -> dict[str, tg.Graph]:
    """Undirected graphs with weights, by name."""
    generate = tg.generators
    return {
        "grid 2 x 3": generate.grid2d(2, 3, weighted=True),
        "grid 26 x 26": generate.grid2d(26, 26, weighted=True),
        "grid 158 x 158": generate.grid2d(158, 158, weighted=True),
    }


def cases(folder: Path) -> Iterator[Case]:
    """The kernels of `bench.kernels`, and those of `aggregate`, on the graph stored in a folder."""
    arrays, description = Arrays.load(folder / "graph.npz"), Description.load(folder)
    systems = dict(prepared(folder, arrays, description))
    for name, spec in KERNELS.items():
        found = {system: kernels[name] for system, kernels in systems.items() if name in kernels}
        fresh = partial(our_kernel, folder, description, name)
        yield Case(spec.title, spec.arguments(description)[0], found, fresh, spec.check(arrays, folder))
    yield from aggregates(folder, arrays)


def prepared(folder: Path, arrays: Arrays, description: Description) -> Iterator[tuple[str, dict[str, Kernel]]]:
    """The kernels of each system that is installed."""
    for name in SYSTEMS:
        try:
            system = peers.load(name)(folder, arrays, description, torch.get_num_threads())
        except ImportError:
            continue
        system.prepare()
        yield name, system.kernels()


def our_kernel(folder: Path, description: Description, name: str) -> Kernel:
    """The TGraph kernel on a graph that has just been opened."""
    return peers.load("tgraph")(folder, None, description, torch.get_num_threads()).kernels()[name]


def aggregates(folder: Path, arrays: Arrays) -> Iterator[Case]:
    """Sums and maxima over the in-arcs, compared with scipy's product of a matrix and a vector."""
    n, random = arrays.num_vertices, np.random.default_rng(0)
    received = csr_array((np.ones(arrays.num_arcs, np.float32), arrays.neighbors, arrays.offset), shape=(n, n))
    weighted = csr_array((arrays.weights.astype(np.float32), arrays.neighbors, arrays.offset), shape=(n, n))
    for columns, edge in ((1, "copy"), (1, "mul"), (64, "copy")):
        data = random.random((n, columns) if columns > 1 else n, dtype=np.float32)
        matrix = received if edge == "copy" else weighted
        expected = matrix.astype(np.float64) @ data
        title = f"aggregate, {columns} column{'s' if columns > 1 else ''}{', weights' if edge == 'mul' else ''}"
        fresh = partial(aggregate, folder, torch.from_numpy(data), edge)
        product = Kernel(lambda _, matrix=matrix, data=data: matrix @ data)
        yield Case(title, None, {"tgraph": fresh(), "scipy": product}, fresh, partial(near, expected))


def aggregate(folder: Path, data: torch.Tensor, edge: str) -> Kernel:
    """The TGraph kernel on a graph that has just been opened."""
    graph = tg.read(folder / "graph.tg")
    graph = tg.Graph(graph.offset, graph.neighbors, graph.weights.float(), directed=graph.directed)
    return Kernel(lambda _: tg.aggregate(graph, data, edge=edge))


def near(expected: np.ndarray, system: str, argument: Any, result: np.ndarray) -> None:
    """Raise WrongResult unless sums of float32 are those of float64."""
    require(result.shape == expected.shape, f"shape {result.shape}, not {expected.shape}")
    require(np.allclose(result, expected, rtol=1e-5, atol=1e-5), "a sum is wrong")


def run() -> list[dict[str, Any]]:
    """A row for each graph and kernel, times in seconds: the median of our call, that of the part inside compiled
    kernels and of the rest, and the first call, and {peer: its median} or the error."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        ours = []
        for name, graph in graphs().items():
            folder = Path(place) / name
            store(graph, describe(name, graph, 1), folder)
            for case in cases(folder):
                row = {"graph": name, "edges": graph.num_edges, "algorithm": case.title}
                rows.append(row | compared(case))
                ours.append(partial(case.systems["tgraph"].call, case.argument))
        for row, inside in zip(rows, map(profile, ours, [watches()] * len(ours)), strict=True):
            row.update(inside)
    return rows


def compared(case: Case) -> dict[str, Any]:
    """The first TGraph call, and the medians of all systems, interleaved."""
    kernel = case.fresh()
    first, result = measure.timed(kernel.call, case.argument)
    case.check("tgraph", case.argument, kernel.read(result))
    contestants = [
        measure.Called(name, found.call, verified(case.check, name, found)) for name, found in case.systems.items()
    ]
    samples = measure.interleave(contestants, [case.argument] * 3, SETTINGS)
    medians = {name: found.error or measure.seconds(found.blocks).median for name, found in samples.items()}
    return {"threads": torch.get_num_threads(), "first": first, "total": medians.pop("tgraph"), "peers": medians}


def watches() -> tuple[Stopwatch, Stopwatch]:
    """One for the compiled kernels, one for the operations of the backends."""
    compiled, operations = Stopwatch(), Stopwatch()
    if (kernels := native.load()) is not None:
        compiled.watch(kernels)
    for backend in BACKENDS.values():
        for name, (run, refuses) in backend.operators.items():
            backend.offer(name, operations.timed(run), refuses)
    return compiled, operations


def profile(call: Callable[[], Any], watched: tuple[Stopwatch, Stopwatch]) -> dict[str, Any]:
    """Medians over many calls, after some untimed ones."""
    for _ in range(10):
        call()
    for watch in watched:
        watch.read()
    overhead, kernels, entered = [], [], []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        total = time.perf_counter() - start
        inside, outside = (watch.read() for watch in watched)
        seconds, count = inside if inside[1] else outside
        overhead.append(total - seconds)
        kernels.append(seconds)
        entered.append(count)
    return {
        "kernels": statistics.median(kernels),
        "overhead": statistics.median(overhead),
        "kernel_calls": int(statistics.median(entered)),
    }


def main() -> None:
    arguments = parsed(__doc__, json=False, output=Path)
    torch.manual_seed(0)
    if arguments.json:
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
        print(json.dumps(run()))
        return
    rows, problems = [], []
    for threads in sorted({1, torch.get_num_threads()}):
        rows += run_json(["bench.calls", "--json"], threads, problems)
    if arguments.output:
        arguments.output.write_text(json.dumps({"calls": rows, "problems": problems}, indent=1))
    print(report.calls({"calls": rows}))


if __name__ == "__main__":
    main()
