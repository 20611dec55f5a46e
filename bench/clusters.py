"""TGraph beside systems made for several machines, with as many workers, all of them on this one.

    python -m bench.clusters [--scale 18] [--workers 2] [--peers graphscope,graphx] [--output bench/results]

PageRank for as many iterations as TGraph needs, components and BFS on R-MAT. Each peer has an environment of its own,
build/peer-NAME, made at the first run by pip (GraphX also needs a Java runtime, version 17 or later), and a process
that holds its graph; systems take turns, and every result is verified as in bench.analytics. Times are of calls, with
what a coordinator or a driver adds. Writes clusters.json and clusters.md.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tgraph as tg
from bench import measure, peers
from bench.arrays import Arrays, Description
from bench.command import RESULTS, ROOT, parsed
from bench.graphs import describe, store
from bench.kernels import BLOCKS, KERNELS
from bench.machine import describe_machine
from bench.results import save, table

WANTED = ("pagerank", "wcc", "bfs")


@dataclass
class Served:
    """A peer in a process of its own; a contestant of `measure` for the `kernel` that it was last asked for."""

    name: str
    folder: Path
    process: subprocess.Popen[str]
    log: Path
    kernel: str = ""
    check: Any = None
    inside: dict[str, list[float]] = field(default_factory=lambda: {kernel: [] for kernel in WANTED})

    @classmethod
    def start(cls, name: str, folder: Path, workers: int, log: Path) -> Served:
        command = [str(environment(name)), "-m", "bench.peers.serving", name, str(folder), str(workers)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log.open("w")}
        threads = {"OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | threads, text=True, **pipes)
        found = cls(name, folder, process, log)
        print(f"{name} has its graph after {found.answer()['seconds']:.0f} s", flush=True)
        return found

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with exit code {self.process.wait()}; see its log")
        found = json.loads(line)
        if "fault" in found:
            raise RuntimeError(found["fault"])
        return found

    def first(self, argument: Any) -> float:
        self.timed(argument)
        return self.timed(argument)

    def block(self, argument: Any, warm: bool, repeat: int) -> list[float]:
        return [self.timed(argument) for _ in range(warm + repeat)][warm:]

    def timed(self, argument: Any) -> float:
        assert self.process.stdin is not None
        print(json.dumps([self.kernel, argument]), file=self.process.stdin, flush=True)
        found = self.answer()
        self.check(
            self.name, None if self.kernel == "pagerank" else argument, np.load(self.folder / f"{self.name}.npy")
        )
        self.inside[self.kernel] += self.logged()[-1:]
        return found["seconds"]

    def logged(self) -> list[float]:
        """The seconds within its workers, of every call so far, where these log them."""
        pattern = getattr(peers.load(self.name), "logged", "")
        return [float(text) for text in re.findall(pattern, self.log.read_text())] if pattern else []

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=120)


def environment(name: str) -> Path:
    """The interpreter of a peer's environment, which is made where it is missing."""
    folder = ROOT / "build" / f"peer-{name}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        requirements = peers.load(name).requirements
        subprocess.run([str(python), "-m", "pip", "install", "-q", *requirements], check=True)
        (folder / "ready").touch()
    return python


def compare(folder: Path, workers: int, served: list[Served], settings: measure.Settings) -> list[dict[str, Any]]:
    """A cell for each kernel and system."""
    arrays, description = Arrays.load(folder / "graph.npz"), Description.load(folder)
    system, cells = peers.load("tgraph")(folder, None, description, workers), []
    calls = {kernel: found.call for kernel, found in system.kernels().items()}
    rounds = system.kernels()["pagerank"].iterations(None)  # until it is as near as results are verified to be
    ranks = {"tol": None, "max_iterations": rounds, "dangling": "ignore"}
    calls["pagerank"] = lambda _: tg.algorithms.pagerank(system.graph, **ranks)
    for kernel in WANTED:
        check = KERNELS[kernel].check(arrays, folder)

        def checked(argument: Any, result: Any, check: Any = check, kernel: str = kernel) -> None:
            check("tgraph", None if kernel == "pagerank" else argument, np.asarray(result))

        contestants: list[Any] = [measure.Called("tgraph", calls[kernel], checked)]
        for peer in served:
            peer.kernel, peer.check = kernel, check
            contestants.append(peer)
        arguments = {"pagerank": [rounds] * BLOCKS, "wcc": [None] * BLOCKS, "bfs": description.sources}[kernel]
        samples = measure.interleave(contestants, arguments, settings)
        for contestant in contestants:
            found = samples[contestant.name]
            made = {"kernel": kernel, "system": contestant.name, "blocks": found.blocks, "error": found.error}
            cells.append(made | {"inside": getattr(contestant, "inside", {}).get(kernel, [])})
            print(cells[-1], flush=True)
    return cells


def markdown(cells: list[dict[str, Any]]) -> str:
    rows = []
    for kernel in WANTED:
        base = next(cell["blocks"] for cell in cells if cell["kernel"] == kernel and cell["system"] == "tgraph")
        for cell in (cell for cell in cells if cell["kernel"] == kernel):
            if cell["error"]:
                rows.append([KERNELS[kernel].title, cell["system"], cell["error"], "", ""])
                continue
            spread, ratio = measure.seconds(cell["blocks"]), measure.ratio(cell["blocks"], base)
            times = f"{ratio.median:.3g} ({ratio.low:.3g}..{ratio.high:.3g})" if ratio else ""
            inside = f"{1000 * statistics.median(cell['inside']):.4g}" if cell["inside"] else ""
            rows.append([KERNELS[kernel].title, cell["system"], f"{1000 * spread.median:.4g}", times, inside])
    return table(["", "system", "ms", "times TGraph's", "of these in its workers"], rows)


def main() -> None:
    arguments = parsed(
        __doc__, scale=18, workers=2, sources=3, repeat=1, budget=60.0, peers=peers.CLUSTERS, output=RESULTS
    )
    arguments.output.mkdir(parents=True, exist_ok=True)
    settings = measure.Settings(arguments.repeat, arguments.budget, slow=arguments.budget)
    with tempfile.TemporaryDirectory() as folder:
        graph = tg.generators.rmat(arguments.scale, 16, weighted=True)
        store(graph, describe(f"rmat-{arguments.scale}", graph, arguments.sources), Path(folder))
        logs = {name: arguments.output / f"clusters-{name}.log" for name in arguments.peers}
        served = [Served.start(name, Path(folder), arguments.workers, log) for name, log in logs.items()]
        cells = compare(Path(folder), arguments.workers, served, settings)
        for peer in served:
            peer.stop()
    found = {"machine": describe_machine(), "workers": arguments.workers, "cells": cells, "settings": asdict(settings)}
    save("clusters", markdown(cells), found, arguments.output)


if __name__ == "__main__":
    main()
