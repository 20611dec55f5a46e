"""One graph at one number of threads: a separate process, since thread counts are set by the environment.

    python -m bench.worker SPEC.json RESULT.json

Holds the graphs of all systems at once, so that these can be interleaved; writes the results after every kernel.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bench import gapbs, limits, measure, peers
from bench.arrays import Arrays, Description
from bench.kernels import KERNELS, Spec

BYTES_PER_ARC = 120  # what the structures of one peer take at most, about


@dataclass
class Task:
    """The task of a worker. `skip`: pairs [system, kernel] that were too slow at another thread count."""

    folder: str
    threads: int
    systems: list[str]
    kernels: list[str]
    settings: dict[str, float]
    probe_shrink: int = 1
    skip: list[list[str]] = field(default_factory=list)


def main(task: Task, output: Path) -> None:
    torch.set_num_threads(task.threads)
    result: dict[str, Any] = {"threads": task.threads, "prepare": {}, "skipped": [], "cells": []}
    probed = limits.measure(task.threads, task.probe_shrink)
    result["limits"] = asdict(probed)
    folder = Path(task.folder)
    arrays, description = Arrays.load(folder / "graph.npz"), Description.load(folder)
    result["graph"] = asdict(description)
    systems = prepare(task, arrays, description, result)
    work = limits.work(arrays)
    for kernel in task.kernels:
        spec = KERNELS[kernel]
        if spec.undirected_only and arrays.directed:
            result["skipped"].append(f"{kernel}: the graph is directed")
            continue
        cells = compare(task, kernel, spec, systems, arrays, description)
        result["cells"] += cells
        streamed, gathered = work[kernel].seconds(probed)
        bound = {"formula": work[kernel].formula, "streamed": streamed, "gathered": gathered}
        result.setdefault("bounds", {})[kernel] = bound
        output.write_text(json.dumps(result))
        print_cells(description.name, task.threads, spec, cells)


def prepare(task: Task, arrays: Arrays, description: Description, result: dict[str, Any]) -> dict[str, Any]:
    """Make the structures of every system, which is timed; a system that is missing or fails is reported."""
    systems = {}
    for name in task.systems:
        if name == "gapbs":
            continue
        start = time.perf_counter()
        system = loaded(name, Path(task.folder), arrays, description, task.threads, prepared=True)
        if isinstance(system, str):
            result["skipped"].append(f"{name}: {system}")
            print(f"  {name} is left out: {system}", flush=True)
            continue
        systems[name] = system
        result["prepare"][name] = time.perf_counter() - start
    return systems


def loaded(
    name: str, folder: Path, arrays: Arrays, description: Description, threads: int, prepared: bool = False
) -> Any:
    """A system, with its structures where it is to be `prepared`; a text where it is missing or fails."""
    try:
        if (reason := out_of_reach(name, arrays)) is not None:
            return reason
        system = peers.load(name)(folder, arrays, description, threads)
        if prepared:
            system.prepare()
        return system
    except Exception as fault:
        return f"{type(fault).__name__}: {fault}"


def out_of_reach(name: str, arrays: Arrays) -> str | None:
    """Why a system cannot take this graph."""
    if name in peers.SMALL_ONLY and arrays.num_arcs > peers.SMALL_ARCS:
        return f"only on graphs of up to {peers.SMALL_ARCS:,} arcs"
    if name != "tgraph" and BYTES_PER_ARC * arrays.num_arcs > available_memory():
        return "too little memory is left"
    return None


def available_memory() -> float:
    """Bytes; infinite if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def compare(
    task: Task, kernel: str, spec: Spec, systems: dict[str, Any], arrays: Arrays, description: Description
) -> list[dict[str, Any]]:
    """Measure one kernel on all systems that have it: a cell for each."""
    check = spec.check(arrays, Path(task.folder))
    contestants: list[Any] = []
    counters = {}
    for name, system in systems.items():
        found = system.kernels().get(kernel)
        if found is None or [name, kernel] in task.skip:
            continue
        contestants.append(measure.Called(name, found.call, verified(check, name, found)))
        counters[name] = found.iterations
    if kernel == "labels" and "tgraph" in counters:
        contestants[0].check = partial(verified_labels, check, systems["tgraph"], contestants[0].check)
    if "gapbs" in task.systems and kernel in gapbs.PROGRAMS and ["gapbs", kernel] not in task.skip:
        contestants.append(gapbs.Program(kernel, arrays, Path(task.folder), task.threads, check))
    settings = measure.Settings(**task.settings)
    samples = measure.interleave(contestants, spec.arguments(description), settings)
    return [cell(kernel, contestant, samples[contestant.name], check, counters) for contestant in contestants]


def verified(check: Any, name: str, kernel: peers.Kernel) -> Callable[[Any, Any], None]:
    """The check of a system's result, read."""
    return lambda argument, result: check(name, argument, kernel.read(result))


def verified_labels(check: Any, system: Any, plain: Any, argument: Any, result: Any) -> None:
    """The first time, every step is checked."""
    if check.known is None:
        for step in (1, 2, 10):
            before = torch.arange(system.graph.num_vertices) if step == 1 else system.label_steps(step - 1)
            check.prove(torch.as_tensor(before).numpy(), system.label_steps(step))
    plain(argument, result)


def cell(kernel: str, contestant: Any, samples: Any, check: Any, counters: dict[str, Any]) -> dict[str, Any]:
    """The samples and the verdict of one system on one kernel."""
    name = contestant.name
    made = {"kernel": kernel, "system": name, "blocks": sorted(samples.blocks.items()), "error": samples.error}
    if samples.error is not None:
        return made
    made["verdict"], made["note"] = check.verdict(name), getattr(contestant, "note", "")
    if kernel.startswith("pagerank"):
        made["iterations"] = count_iterations(contestant, counters.get(name))
    return made


def count_iterations(contestant: Any, counter: Any) -> int | None:
    if isinstance(contestant, gapbs.Program):
        return contestant.iterations()
    return counter(contestant.call(None)) if counter else None


def print_cells(graph: str, threads: int, spec: Spec, cells: list[dict[str, Any]]) -> None:
    """Print a line for each kernel, as progress."""
    shown = []
    for made in cells:
        if made["error"] is None:
            median = measure.seconds(dict(made["blocks"])).median
            shown.append(f"{made['system']} {median * 1e3:.3g} ms ({made['verdict']})")
        else:
            shown.append(f"{made['system']} FAILED: {made['error']}")
    print(f"  {graph}, {threads} threads, {spec.title}: {'; '.join(shown) or 'nobody has it'}", flush=True)


if __name__ == "__main__":
    main(Task(**json.loads(Path(sys.argv[1]).read_text())), Path(sys.argv[2]))
