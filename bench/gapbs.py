"""The GAP benchmark suite's own programs, where the environment variable GAPBS names the folder that holds them.

They read the very graph that is measured: this writes their serialized format. A file holds, in the byte order of the
machine: one byte that is 1 for a directed graph, the numbers of arcs and of vertices (int64), n + 1 offsets (int64),
then the neighbours (int32), in a weighted file (.wsg) each followed by its weight (int32). A directed graph goes on
with the offsets and neighbours of its in-arcs.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.arrays import Arrays
from bench.verify import Agreement, Components, Depths, Ranks, Scores, require

PROGRAMS = {
    "bfs": "bfs",
    "sssp": "sssp",
    "wcc": "cc",
    "pagerank": "pr_spmv",
    "pagerank-gs": "pr",
    "triangles": "tc",
    "betweenness": "bc",
}
DELTAS = (2, 16, 128, 2048)  # bucket widths of sssp to choose from, for weights in 1..255
TIMEOUT = 300  # seconds for one run of a program
SELF_TESTED_ARCS = 5_000_000  # its check of triangles intersects all rows, which takes minutes on larger graphs
TRIAL = re.compile(r"^Trial Time:\s+([\d.]+)", re.MULTILINE)


def folder() -> Path | None:
    """The folder of the programs."""
    return Path(os.environ["GAPBS"]) if os.environ.get("GAPBS") else None


def write_graph(arrays: Arrays, path: Path) -> None:
    """Write a .sg file, or a .wsg file with the weights, by the ending of the path."""
    with path.open("wb") as file:
        file.write(bytes([arrays.directed]))
        np.array([arrays.num_arcs, arrays.num_vertices], dtype=np.int64).tofile(file)
        both = (arrays.offset, arrays.neighbors, arrays.weights), arrays.reverse()
        for offset, neighbors, weights in both if arrays.directed else both[:1]:
            offset.astype(np.int64, copy=False).tofile(file)
            columns = (neighbors, weights) if path.suffix == ".wsg" else (neighbors,)
            np.stack(columns, axis=1).astype(np.int32, copy=False).tofile(file)


def trial_times(output: str) -> list[float]:
    """Seconds of each trial, as a program prints them."""
    return [float(seconds) for seconds in TRIAL.findall(output)]


def numbers(pattern: str, output: str) -> tuple[int, ...]:
    """The numbers in the line of that form. Raises WrongResult where there is none."""
    found = re.search(pattern, output)
    require(found, f"no line {pattern!r} in the output")
    return tuple(map(int, found.groups()))


def top(output: str) -> dict[int, float]:
    """The five best vertices and their scores, which end what -a prints."""
    return {int(vertex): float(score) for vertex, score in re.findall(r"^(\d+):(\S+)$", output, re.MULTILINE)}


@dataclass
class Program:
    """One of the programs on one graph: a contestant for `measure.interleave`.

    Every block is a run of the program, whose first trial is the untimed call. It prints what it found of its last
    trial (-a), which is compared with what is known; in the first run it also checks itself (-v).
    """

    kernel: str
    arrays: Arrays
    graphs: Path
    threads: int
    check: Any
    name: str = "gapbs"
    note: str = ""

    def first(self, argument: Any) -> float:
        options = [] if self.kernel == "triangles" and self.arrays.num_arcs > SELF_TESTED_ARCS else ["-v"]
        if self.kernel == "sssp":
            self.note = f"delta {self.tune(argument)}"
        return sum(self.trials(argument, 1, *options))

    def block(self, argument: Any, warm: bool, repeat: int) -> list[float]:
        return self.trials(argument, repeat + warm)[warm:]

    def trials(self, argument: Any, count: int, *options: str) -> list[float]:
        """Seconds of each trial; from several sources, of each trial from all of them (bc takes one at a time)."""
        if self.kernel != "betweenness":
            return self.run(argument, count, *options)
        return [sum(trial) for trial in zip(*(self.run(source, count, *options) for source in argument), strict=True)]

    def run(self, source: int | None, count: int, *options: str) -> list[float]:
        output = self.execute(source, "-n", str(count), "-a", *options)
        require("FAIL" not in output or self.excused(output), "its own verification fails")
        CONFIRM[self.kernel](self, source, output)
        seconds = trial_times(output)
        require(len(seconds) == count, f"{len(seconds)} trial times, not {count}")
        return seconds

    def excused(self, output: str) -> bool:
        """bc compares float32 sums to the last bit: that is left to the comparison of scores."""
        return self.kernel == "betweenness"

    def execute(self, source: int | None, *options: str) -> str:
        suffix = "wsg" if self.kernel == "sssp" else "sg"
        where = folder()
        assert where is not None
        command = [str(where / PROGRAMS[self.kernel]), "-f", str(self.graphs / f"graph.{suffix}")]
        command += ["-r", str(source)] if source is not None else []
        command += ["-i", "1000"] if self.kernel.startswith("pagerank") else []
        command += ["-d", self.note.removeprefix("delta ")] if self.note else []
        environment = os.environ | {"OMP_NUM_THREADS": str(self.threads)}
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, env=environment, timeout=TIMEOUT, errors="replace"
        )
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {(done.stderr or done.stdout)[-200:]}")
        return done.stdout

    def iterations(self) -> int:
        """The iterations of a PageRank, which logs a line for each."""
        return len(re.findall(r"^ +\d+ +[\d.]+$", self.execute(None, "-n", "1", "-l"), re.MULTILINE))

    def tune(self, source: int) -> int:
        """The bucket width with which it is fastest from the first source."""

        def seconds(delta: int) -> float:
            self.note = f"delta {delta}"
            return min(trial_times(self.execute(source, "-n", "2")))

        return min(DELTAS, key=seconds)


def confirm_search(program: Program, source: int, output: str) -> None:
    expected = program.check.find(source)
    if expected is None:
        return
    reached = expected >= 0
    if isinstance(program.check, Depths) and program.kernel == "bfs":
        found = numbers(r"BFS Tree has (\d+) nodes and (\d+) edges", output)
        wanted: tuple[int, ...] = (int(reached.sum()), int(program.arrays.degree[reached].sum()))
    else:
        found, wanted = numbers(r"SSSP Tree reaches (\d+) nodes", output), (int(reached.sum()),)
    require(found == wanted, f"reaches {found}, not {wanted}")


def confirm_components(program: Program, source: None, output: str) -> None:
    check: Components = program.check
    expected = check.find(None)
    if expected is not None:
        found, wanted = numbers(r"There are (\d+) components", output)[0], len(np.unique(expected))
        require(found == wanted, f"{found} components, not {wanted}")


def confirm_ranks(program: Program, source: None, output: str) -> None:
    """The five largest ranks are near the fixed point; the others are verified by GAPBS."""
    check: Ranks = program.check
    compare_top(top(output), check.reference(), 0.05)


def confirm_scores(program: Program, source: int, output: str) -> None:
    """The five largest scores, which it divides by the largest; to the source it gives all paths from there."""
    check: Scores = program.check
    expected = check.dependencies(source)[0]
    compare_top(top(output), expected / max(expected.max(), 1), 1e-3)


def compare_top(found: dict[int, float], expected: np.ndarray, tolerance: float) -> None:
    require(len(found) == min(5, len(expected)), f"{len(found)} scores printed, not 5")
    for vertex, score in found.items():
        require(
            abs(score - expected[vertex]) <= tolerance * expected[vertex],
            f"{score} at vertex {vertex}, not {expected[vertex]}",
        )


def confirm_triangles(program: Program, source: None, output: str) -> None:
    check: Agreement = program.check
    check(program.name, None, np.asarray(numbers(r"(\d+) triangles", output)[0]))


CONFIRM: dict[str, Callable[[Program, Any, str], None]] = {
    "bfs": confirm_search,
    "sssp": confirm_search,
    "wcc": confirm_components,
    "pagerank": confirm_ranks,
    "pagerank-gs": confirm_ranks,
    "triangles": confirm_triangles,
    "betweenness": confirm_scores,
}
