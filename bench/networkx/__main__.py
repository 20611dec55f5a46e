"""Runs the comparison; see the package's docstring."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench.networkx
from bench import results as files
from bench.command import RESULTS, parsed
from bench.machine import describe_machine, versions
from bench.networkx.given import KINDS
from bench.networkx.report import markdown, summary
from bench.process import python

PACKAGES = ("tgraph", "networkx", "graphblas-algorithms", "nx-parallel", "torch", "scipy")


def main() -> None:
    arguments = parsed(
        bench.networkx.__doc__,
        edges=[10**3, 10**5, 10**6, 10**7], functions="", limit=100.0, output=RESULTS, resume=False, again=False,
    )  # fmt: skip
    kept = arguments.output / "networkx.json"
    if arguments.again:
        write(json.loads(kept.read_text()), arguments.output)
        sys.exit()
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": describe_machine(),
        "versions": versions(PACKAGES),
        "limit": arguments.limit,
        "cells": json.loads(kept.read_text())["cells"] if arguments.resume and kept.is_file() else [],
    }
    for edges in arguments.edges:
        for kind in KINDS:
            results["cells"] += measured(kind, edges, arguments, results["cells"])
            write(results, arguments.output)
    print(summary(results["cells"]))


def measured(kind: str, edges: int, arguments: argparse.Namespace, done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells of a process, but those that are done."""
    skip = [cell["case"] for cell in done if cell["kind"] == kind and cell["asked"] == edges]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "cells.json"
        python("bench.networkx.worker", kind, edges, arguments.limit, arguments.functions, found, json.dumps(skip))
        return json.loads(found.read_text()) if found.is_file() else []


def write(results: dict[str, Any], folder: Path) -> None:
    files.save("networkx", markdown(results), results, folder, quiet=True)


if __name__ == "__main__":
    main()
