"""Runs the comparison; see the package's docstring."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench.networkx
from bench.analytics import ROOT, integers
from bench.machine import describe_machine
from bench.networkx.given import KINDS
from bench.networkx.picture import draw
from bench.networkx.report import markdown, summary

PACKAGES = ("tgraph", "networkx", "graphblas-algorithms", "nx-parallel", "torch", "scipy")


def main() -> None:
    arguments = parse()
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": describe_machine(),
        "versions": {name: version(name) for name in PACKAGES},
        "limit": arguments.limit,
        "cells": [],
    }
    if arguments.resume:
        results["cells"] = kept(arguments.output)
    for edges in arguments.edges:
        for kind in KINDS:
            results["cells"] += measured(kind, edges, arguments, results["cells"])
            write(results, arguments.output)
    print(summary(results["cells"]))


def kept(folder: Path) -> list[dict[str, Any]]:
    """The cells of the results that are there."""
    found = folder / "networkx.json"
    return json.loads(found.read_text())["cells"] if found.is_file() else []


def measured(kind: str, edges: int, arguments: argparse.Namespace, done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells of a process, but those that are done."""
    skip = [cell["case"] for cell in done if cell["kind"] == kind and cell["asked"] == edges]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "cells.json"
        options = [kind, str(edges), str(arguments.limit), arguments.functions, str(found), json.dumps(skip)]
        subprocess.run([sys.executable, "-m", "bench.networkx.worker", *options], cwd=ROOT, check=False)
        return json.loads(found.read_text()) if found.is_file() else []


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def write(results: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "networkx.json").write_text(json.dumps(results, indent=1))
    (folder / "networkx.md").write_text(markdown(results))
    draw(results["cells"], folder / "networkx.png")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=bench.networkx.__doc__)
    parser.add_argument("--edges", type=integers, default=[10**3, 10**5, 10**6, 10**7])
    parser.add_argument("--functions", default="", help="names, with commas between")
    parser.add_argument("--limit", type=float, default=100.0, help="seconds for a call")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--resume", action="store_true", help="keep the cells of the results that are there")
    parser.add_argument("--again", action="store_true", help="write tables and picture of the results that are there")
    arguments = parser.parse_args()
    if arguments.again:
        write(json.loads((arguments.output / "networkx.json").read_text()), arguments.output)
        sys.exit()
    return arguments


if __name__ == "__main__":
    main()
