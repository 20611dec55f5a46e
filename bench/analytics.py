"""Graph analytics compared with other systems, on the same graphs and sources, every result verified.

    python -m bench.analytics [--scale 20] [--threads 2,1] [--graphs rmat,grid] [--kernels bfs,sssp] [--peers gapbs] ...

--scale 10,12,14,16,18,20,22 measures generated graphs of all these sizes, and the report begins with a table by size.
Peers that are not installed are reported and skipped; GAPBS is included if the environment variable GAPBS names the
folder of its programs. Each graph and number of threads runs in a separate process, which interleaves all systems;
searches start from --sources vertices, and each system has about --budget seconds for a kernel, and --timeout for a
graph. --quick: small synthetic graphs and two sources, to see whether it runs. Results go to bench/results:
analytics.json with all samples, analytics.md with tables; they are written after every graph. The part "library" runs
`bench.library`, whose rows are all other algorithms that peers have, with tables of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bench import gapbs, memory, peers, report
from bench.command import DATA, RESULTS, parsed
from bench.kernels import KERNELS
from bench.machine import describe_machine, versions
from bench.process import fault_of, python

GRAPHS = ("rmat", "uniform", "grid", "small", "web", "social", "road")
GENERATED = ("rmat", "uniform", "grid")  # of any size
PARTS = ("compare", "memory", "calls", "user", "library")
PACKAGES = ("tgraph", "torch", "numpy", "networkit", "igraph", "scipy", "python-graphblas", "rustworkx", "networkx")
PATIENCE = 5.0  # seconds for a call, beyond which a peer is not measured at another number of threads


def main() -> None:
    arguments = parse()
    results: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": {"python": sys.version.split()[0]} | versions(PACKAGES),
        "arguments": {name: str(value) for name, value in vars(arguments).items()},
        "runs": [],
        "problems": [],
    }
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:
        for kind, scale in itertools.product(arguments.graphs, arguments.scale):
            if scale != arguments.scale[0] and kind not in GENERATED:
                continue
            folder = Path(work) / f"{kind}-{scale}"
            if not build(kind, scale, folder, arguments, results):
                continue
            if "compare" in arguments.parts:
                compare(folder, arguments, results)
            if "memory" in arguments.parts and "memory" not in results:
                print("peak memory", flush=True)
                systems = ["torch", *(name for name in arguments.systems if name not in peers.SMALL_ONLY)]
                results["memory"] = [memory.measure(system, folder, max(arguments.threads)) for system in systems]
            report.save(results, arguments.output)
    user = ["bench.programs", "--json", "--programs", "Hops,Distance,Ranks,Hubs", "--times", str(arguments.scale[0])]
    own = {"calls": ["bench.calls", "--json"], "user": user}
    for part, command in own.items():
        if part not in arguments.parts:
            continue
        print(part, flush=True)
        results[part] = run_json(command, max(arguments.threads), results["problems"])
        report.save(results, arguments.output)
    if "library" in arguments.parts:
        library(arguments, results["problems"])
    print(f"written: {', '.join(str(path) for path in report.save(results, arguments.output))}")


def parse() -> argparse.Namespace:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    others = (*peers.SYSTEMS[1:], "gapbs")
    arguments = parsed(
        __doc__,
        known={"graphs": GRAPHS, "kernels": tuple(KERNELS), "peers": others, "parts": PARTS},
        scale=[20], threads=sorted({1, min(2, cores)}), graphs=[], kernels=list(KERNELS), peers=others, parts=PARTS,
        sources=8, repeat=3, budget=3.0, timeout=1800.0, data=DATA, output=RESULTS, work=Path, quick=False,
    )  # fmt: skip
    if arguments.quick:
        arguments.scale = [min(scale, 12) for scale in arguments.scale]
        arguments.sources, arguments.repeat, arguments.budget = 2, 2, 0.5
    arguments.graphs = arguments.graphs or list(GRAPHS[:3] if arguments.quick else GRAPHS)
    arguments.systems = ["tgraph", *arguments.peers]
    if "gapbs" in arguments.systems and gapbs.folder() is None:
        print("gapbs is left out: set GAPBS to the folder that holds its programs")
        arguments.systems.remove("gapbs")
    return arguments


def build(kind: str, scale: int, folder: Path, arguments: argparse.Namespace, results: dict[str, Any]) -> bool:
    """Build and store a graph; False, and a message, where it cannot be had."""
    print(f"{kind}: building", flush=True)
    command = ["bench.graphs", kind, scale, arguments.data, arguments.sources, folder]
    done = python(*command, threads=max(arguments.threads), capture_output=True)
    if done.returncode == 0:
        return True
    reason = done.stdout.strip().splitlines()[-1] if done.returncode == 3 else fault_of(done)
    problem(results["problems"], f"{kind} is left out: {reason}")
    return False


def compare(folder: Path, arguments: argparse.Namespace, results: dict[str, Any]) -> None:
    """Measure one graph at every number of threads, the largest first; single-threaded systems are measured once."""
    too_slow: list[list[str]] = []
    for threads in sorted(arguments.threads, reverse=True):
        largest = threads == max(arguments.threads)
        systems = [name for name in arguments.systems if largest or name not in peers.ONE_THREAD]
        settings = {"repeat": arguments.repeat, "budget": arguments.budget}
        shrink = 16 if arguments.quick else 1
        task = {"folder": str(folder), "threads": threads, "systems": systems, "kernels": arguments.kernels}
        task |= {"settings": settings, "probe_shrink": shrink, "skip": too_slow}
        request, answer = folder / "task.json", folder / f"result-{threads}.json"
        request.write_text(json.dumps(task))
        fault = None
        try:
            done = python("bench.worker", request, answer, threads=threads, timeout=arguments.timeout)
            fault = f"exit code {done.returncode}" if done.returncode else None
        except subprocess.TimeoutExpired:
            fault = f"stopped after {arguments.timeout:.0f} s"
        if fault:
            problem(results["problems"], f"{folder.name} on {threads} threads: {fault}; what came before is kept")
        if answer.is_file():
            results["runs"].append(json.loads(answer.read_text()))
            too_slow = slow_cells(results["runs"][-1])


def slow_cells(run: dict[str, Any]) -> list[list[str]]:
    """[system, kernel] of the peers that took too long to be measured again."""
    return [
        [cell["system"], cell["kernel"]]
        for cell in run["cells"]
        if cell["system"] not in ("tgraph", "gapbs") and cell["blocks"] and cell["blocks"][0][1][0] > PATIENCE
    ]


def library(arguments: argparse.Namespace, problems: list[str]) -> None:
    """The rest of the library beside its peers, see `bench.library`, which writes tables of its own."""
    print("library", flush=True)
    threads = max(arguments.threads)
    systems = [name for name in arguments.systems if name not in ("networkx", "gapbs")]
    command = ["bench.library", "--scale", arguments.scale[0], "--threads", threads]
    command += ["--graphs", ",".join(arguments.graphs), "--systems", ",".join(systems), "--data", arguments.data]
    command += ["--output", arguments.output, "--budget", arguments.budget]
    if (done := python(*command, threads=threads)).returncode:
        problem(problems, f"bench.library: exit code {done.returncode}")


def run_json(command: list[str], threads: int, problems: list[str]) -> list[dict[str, Any]]:
    """The rows that a module prints as JSON; none, and a message, where it fails."""
    try:
        done = python(*command, threads=threads, capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        problem(problems, f"{' '.join(command)}: stopped after 10 minutes")
        return []
    if done.returncode == 0:
        return json.loads(done.stdout)
    problem(problems, f"{' '.join(command)}: {fault_of(done)}")
    return []


def problem(problems: list[str], message: str) -> None:
    print(f"  {message}", flush=True)
    problems.append(message)


if __name__ == "__main__":
    main()
