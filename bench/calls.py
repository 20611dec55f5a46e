"""What a call costs on a graph too small to matter: its time less the time inside compiled kernels.

    python -m bench.calls

Prints JSON. Where no compiled kernel serves a call, the operations of the backend take its place.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

import tgraph as tg
from bench.peers.tgraph_ import RANKS
from tgraph import native
from tgraph.kernels import BACKENDS

REPEAT = 200


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


def graphs() -> dict[str, tg.Graph]:
    """From the size of a karate club to ten thousand edges."""
    generate = tg.generators
    return {
        "uniform-5": generate.uniform(5, 3, weighted=True),
        "grid 16 x 16": generate.grid2d(16, 16, weighted=True),
        "rmat-8": generate.rmat(8, 8, weighted=True),
        "grid 70 x 70": generate.grid2d(70, 70, weighted=True),
        "rmat-10": generate.rmat(10, 12, weighted=True),
    }


def run() -> list[dict[str, Any]]:
    """A row for each graph and algorithm: medians in seconds of the whole call and of its kernels."""
    compiled, operations = Stopwatch(), Stopwatch()
    if native.load() is not None:
        compiled.watch(native.load())
    for backend in BACKENDS.values():
        operations.watch(backend)
    rows = []
    for name, graph in graphs().items():
        source = int(graph.out_degree.argmax())
        plain = tg.Graph(graph.offset, graph.neighbors, directed=False)
        calls = {
            "bfs": lambda plain=plain, source=source: tg.algorithms.bfs(plain, source),
            "sssp": lambda graph=graph, source=source: tg.algorithms.sssp(graph, source),
            "wcc": lambda plain=plain: tg.algorithms.wcc(plain),
            "pagerank": lambda plain=plain: tg.algorithms.pagerank(plain, **RANKS),
        }
        for algorithm, call in calls.items():
            rows.append(
                {"graph": name, "edges": graph.num_edges, "algorithm": algorithm} | profile(call, compiled, operations)
            )
    return rows


def profile(call: Callable[[], Any], compiled: Stopwatch, operations: Stopwatch) -> dict[str, Any]:
    """Medians over many calls, after some untimed ones."""
    for _ in range(10):
        call()
    compiled.read(), operations.read()
    total, kernels, entered = [], [], []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        total.append(time.perf_counter() - start)
        inside, outside = compiled.read(), operations.read()
        seconds, count = inside if inside[1] else outside
        kernels.append(seconds)
        entered.append(count)
    overhead = [whole - part for whole, part in zip(total, kernels, strict=True)]
    return {
        "total": statistics.median(total),
        "kernels": statistics.median(kernels),
        "overhead": statistics.median(overhead),
        "kernel_calls": int(statistics.median(entered)),
    }


if __name__ == "__main__":
    torch.manual_seed(0)
    print(json.dumps(run()))
