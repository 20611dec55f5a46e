"""Runs the comparison; see the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import bench.library
import tgraph as tg
from bench import graphs
from bench.arrays import Arrays, Description
from bench.command import DATA, RESULTS, ROOT, parsed
from bench.library import Row
from bench.measure import Called, Settings, against, interleave
from bench.results import save
from bench.results import table as as_table
from bench.worker import loaded

TOPICS = tuple(module.name for module in pkgutil.iter_modules(bench.library.__path__) if module.name != "__main__")
KINDS = ("rmat", "uniform", "grid", "small", "web", "social", "road")
SYSTEMS = ("tgraph", "networkit", "igraph", "graphblas", "rustworkx", "scipy")
FORMS = ("directed", "undirected")
FIRST_CALL = "call.json"  # in the folder of a graph: the cell whose first call is being made


def rows(topics: list[str]) -> dict[str, Row]:
    """The rows of the topics by name."""
    modules = [importlib.import_module(f"bench.library.{topic}") for topic in topics]
    return {name: row for module in modules for name, row in module.ROWS.items()}


def main(arguments: argparse.Namespace) -> None:
    cells: list[dict[str, Any]] = []
    for kind in arguments.graphs:
        for form in FORMS:
            with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
                cells += watched(kind, form, Path(folder), arguments.limit)
            save("library", table(cells), cells, arguments.output, quiet=True)
    print(table(cells))


def watched(kind: str, form: str, folder: Path, limit: float) -> list[dict[str, Any]]:
    """The cells of a graph in one form, from a process of its own, so that its memory is freed.

    A system whose first call on a row takes longer than `limit` seconds cannot be interrupted from within: the process
    is killed, and another one goes on with what is left.
    """
    command = [sys.executable, "-m", "bench.library", *sys.argv[1:], "--one", f"{kind},{form},{folder}"]
    cells, first_call = folder / "cells.json", folder / FIRST_CALL
    while True:
        process = subprocess.Popen(command, cwd=ROOT)
        while process.poll() is None and not (first_call.is_file() and age(first_call) > limit):
            time.sleep(0.1)
        found = json.loads(cells.read_text()) if cells.is_file() else []
        if process.poll() is not None:
            return found
        process.kill()
        process.wait()
        found.append({**json.loads(first_call.read_text()), "error": f"over {limit:g} s"})
        print(f"  {found[-1]['graph']}, {found[-1]['row']}, {said(found[-1])}", flush=True)
        cells.write_text(json.dumps(found))
        first_call.unlink()


def age(file: Path) -> float:
    """Seconds since it was written."""
    return time.time() - file.stat().st_mtime


@dataclass
class Watched(Called):
    """A contestant that says in a file, while it makes its first call, what is being called."""

    file: Path = Path()
    cell: dict[str, Any] = field(default_factory=dict)

    def first(self, argument: Any) -> float:
        self.file.write_text(json.dumps(self.cell))
        try:
            return super().first(argument)
        finally:
            self.file.unlink()


def parse() -> argparse.Namespace:
    return parsed(
        bench.library.__doc__,
        known={"topics": TOPICS, "graphs": KINDS, "systems": SYSTEMS},
        hidden=["one"],
        topics=TOPICS, rows=[], graphs=KINDS, systems=SYSTEMS, scale=20, threads=[2], budget=3.0, limit=120.0,
        data=DATA, output=RESULTS, work=Path, one=[],
    )  # fmt: skip


def one(kind: str, form: str, folder: Path, arguments: argparse.Namespace) -> None:
    """All rows on one graph; where a process was killed, those that it left."""
    chosen = {
        name: row
        for name, row in rows(arguments.topics).items()
        if (not arguments.rows or name in arguments.rows) and row.directed in (None, form == "directed")
    }
    graph = built(kind, form, arguments) if chosen else None
    if graph is None:
        return
    name, held = graph
    chosen = {key: row for key, row in chosen.items() if row.directed is not None or form == natural(kind)}
    description = graphs.describe(name, held, 3)
    arrays = Arrays.of(held)
    tg.write(held, folder / "graph.tg")
    systems = {}
    for system in arguments.systems:
        if any(system in row.calls for row in chosen.values()):
            systems[system] = loaded(system, folder, arrays, description, max(arguments.threads))
            if isinstance(systems[system], str):
                print(f"  {system} is left out of {name}: {systems.pop(system)}", flush=True)
    found = folder / "cells.json"
    cells = json.loads(found.read_text()) if found.is_file() else []
    stopped = {(cell["row"], cell["system"]) for cell in cells if cell["error"]}
    done = {cell["row"] for cell in cells if "ms" in cell}
    for key, row in chosen.items():
        if key not in done:
            left = {system: held for system, held in systems.items() if (key, system) not in stopped}
            cells += compared(key, row, left, description, arguments, folder)
            found.write_text(json.dumps(cells))


def natural(kind: str) -> str:
    """The form that a graph has by nature: rows for graphs of either form are measured on this one."""
    return "directed" if kind == "web" else "undirected"


def built(kind: str, form: str, arguments: argparse.Namespace) -> tuple[str, tg.Graph] | None:
    """The name and the graph, in the form that rows need; None where there is none."""
    try:
        name, build = graphs.recipes(arguments.scale, arguments.data)[kind]
        if form == "directed" and kind in ("rmat", "uniform", "small"):
            make = tg.generators.uniform if kind == "uniform" else tg.generators.rmat
            scale = graphs.SMALL_SCALE if kind == "small" else arguments.scale
            return f"{name}-directed", make(scale, 16, directed=True, weighted=True)
        graph = build()
    except graphs.Missing as reason:
        print(f"{kind} is left out: {reason}", flush=True)
        return None
    if form == "directed":
        return (name, graph) if graph.directed else None
    return (f"{name}-undirected", graph.to_undirected()) if graph.directed else (name, graph)


def compared(
    name: str, row: Row, systems: dict[str, Any], description: Description, options: argparse.Namespace, folder: Path
) -> list[dict[str, Any]]:
    """Time one row on all systems that have it, and verify their results: a cell for each."""
    given = row.arguments(description)
    expected: dict[int, Any] = {}
    qualities: dict[str, dict[str, float]] = {}

    def check(system: str, argument: Any, result: Any) -> None:
        read = row.read.get(system, np.asarray)(result)
        index = given.index(argument)
        if system == "tgraph":
            expected[index] = read
        elif index in expected:
            row.agree(expected[index], read)
        if system not in qualities and "tgraph" in systems:
            qualities[system] = {key: measured(systems["tgraph"], read) for key, measured in row.quality.items()}

    contestants = []
    for system in row.calls:
        if system not in systems or description.num_arcs > row.largest.get(system, 1 << 62):
            continue
        cell = {"row": name, "title": row.title, "graph": description.name, "system": system}
        made = cache(partial(row.bound, systems[system]))  # at the first call, whose fault it then is
        call = lambda argument, made=made: made()(argument)  # noqa: E731
        contestants.append(Watched(system, call, partial(check, system), folder / FIRST_CALL, cell))
    samples = interleave(contestants, given, Settings(budget=options.budget))
    cells = []
    for system, found in against(samples).items():
        cell = {"row": name, "title": row.title, "graph": description.name, "system": system, "error": None} | found
        cell["quality"] = qualities.get(system, {})
        cells.append(cell)
        print(f"  {description.name}, {name}, {said(cell)}", flush=True)
    return cells


def said(cell: dict[str, Any]) -> str:
    """A cell in words."""
    if cell["error"]:
        return f"{cell['system']}: {cell['error']}"
    quality = "".join(f", {key} {value:.6g}" for key, value in cell["quality"].items())
    return f"{cell['system']}: {cell['ms']:.3g} ms, {cell['ratio'] or float('nan'):.2f}{quality}"


def table(cells: list[dict[str, Any]]) -> str:
    """A line for each row and graph: our time, and how many times longer each peer takes."""
    others, rows = SYSTEMS[1:], []
    fastest: list[float] = []
    for row, graph in dict.fromkeys((cell["row"], cell["graph"]) for cell in cells):
        own = {cell["system"]: cell for cell in cells if (cell["row"], cell["graph"]) == (row, graph)}
        ratios = {system: found for system in others if (found := own.get(system, {}).get("ratio"))}
        fastest += [min(ratios.values())] if ratios else []
        shown = [
            f"{ratios[system]:.2f}" if system in ratios else str(own[system]["error"]) if system in own else ""
            for system in others
        ]
        best = f"{min(ratios.values()):.2f}" if ratios else ""
        rows.append([row, graph, f"{own.get('tgraph', {}).get('ms', float('nan')):.4g}", *shown, best])
    text = as_table(["row", "graph", "tgraph, ms", *others, "fastest"], rows)
    if fastest:
        median, worst, below = statistics.median(fastest), min(fastest), sum(factor < 1 for factor in fastest)
        text += f"\n\nThe fastest peer takes {median:.2f} times as long as tgraph in the median of {len(fastest)}"
        text += f"\ncells, {worst:.2f} times in the worst; {below} are below 1."
    return text


if __name__ == "__main__":
    options = parse()
    torch.set_num_threads(max(options.threads))
    if options.one:
        one(options.one[0], options.one[1], Path(options.one[2]), options)
    else:
        main(options)
