"""Programs as a user writes them (tests/own), in every engine, and beside the best way of writing the same.

    python -m bench.programs [--scale 8] [--programs Hops,Distance] [--times 20] [--degree 16] [--json]

On R-MAT graphs of 2**SCALE vertices the values of each program are checked by an oracle, and those of each engine by
these. Prints a table: lines of a program, the engines in which it runs, or the reason why not, see docs/limits.md, and
its time in memory over that of the best way, the median of calls in turn on a graph of 2**TIMES vertices. With --json
the times alone, for `bench.analytics`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import torch

import tgraph as tg
from bench.command import ROOT, parsed
from bench.measure import Called, Settings, interleave, ratio, seconds
from bench.results import table

sys.path += [str(ROOT / "tests" / folder) for folder in ("own", "distributed")]

import engines
import ranks
from programs import PROGRAMS

BLOCKS = 5


def outcomes(names: list[str], scale: int) -> dict[str, dict[str, str]]:
    """Of each program why it does not run in each engine, "" where it does."""
    alone = [engine for engine in engines.ENGINES if engine != "two ranks"]
    with tempfile.TemporaryDirectory() as folder:
        found = engines.cells(names, alone, scale, folder)
    spread = ranks.on_ranks(2, engines.cells, names, ["two ranks"], scale, timeout=600)
    for name in names:
        found[name]["two ranks"] = max(each[name]["two ranks"] for each in spread)
    return found


def times(names: list[str], scale: int, degree: int) -> list[dict[str, Any]]:
    """The best way first, the program second, of those for which there is another way; or the error of one."""
    graphs = {directed: engines.made(scale, directed, degree) for directed in (True, False)}
    graphs = {
        directed: tg.Graph(graph.offset, graph.neighbors, graph.weights.float(), directed=directed)
        for directed, graph in graphs.items()
    }
    rows = []
    for name in names:
        program = PROGRAMS[name]
        if program.best is None:
            continue
        graph = engines.for_program(program, graphs[program.directed])
        calls = {"best": program.best, "own": lambda graph, run=program.run: run(graph, graph)}
        samples = interleave([Called(each, call) for each, call in calls.items()], [graph] * BLOCKS, Settings())
        row = {"graph": f"rmat-{scale}", "algorithm": name}
        if error := samples["best"].error or samples["own"].error:
            rows.append(row | {"error": error})
            continue
        first, second = samples["best"].blocks, samples["own"].blocks
        measured = {"first": seconds(first).median, "second": seconds(second).median}
        rows.append(row | measured | {"ratio": vars(ratio(second, first))})
    return rows


def main() -> None:
    """Print the table, or the times as JSON. Exits with 1 where a program is wrong somewhere."""
    given = parsed(
        __doc__, {"programs": tuple(PROGRAMS)}, scale=8, programs=list(PROGRAMS), times=8, degree=16, json=False
    )
    measured = times(given.programs, given.times, given.degree)
    if given.json:
        print(json.dumps(measured))
        return
    shares = {row["algorithm"]: row.get("error") or f"{row['ratio']['median']:.2f}" for row in measured}
    found, lines = outcomes(given.programs, given.scale), []
    for name in given.programs:
        program = PROGRAMS[name]
        lines.append([program.title, str(program.lines), *engines.row(found[name]), shares.get(name, "-")])
    text = table(["", "lines", *engines.COLUMNS, "time over the best"], lines)
    print(text)
    sys.exit("WRONG" in text)


if __name__ == "__main__":
    torch.set_num_threads(min(2, torch.get_num_threads()))
    main()
