"""The report of `bench.analytics`. A ratio is a peer's time over TGraph's: above 1 TGraph is faster.

    python -m bench.report bench/results/analytics.json

writes the tables of a result file again.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench import results as files
from bench.kernels import KERNELS
from bench.measure import Spread, cells_of, ratio_of, seconds
from bench.results import milliseconds, named, table

SYSTEMS = ("gapbs", "networkit", "igraph", "scipy", "graphblas", "rustworkx", "networkx")
MARKS = {"verified": "", "no second opinion": " ?", "another algorithm": " \\*"}
LEGEND = """\
A cell is the peer's time over TGraph's, the median over blocks of interleaved calls and in brackets the smallest and
largest block: above 1 TGraph is faster. "limit" is the least time in which this machine could move what the kernel
must move (see Limits), "reached" that over TGraph's time. Every result was verified, but where marked: "?" no other
system computes it, "\\*" the peer's algorithm is a relative with another result. Loading and conversion are not
counted. GAPBS prints times to 10 microseconds. However many threads there are, igraph, scipy, rustworkx and networkx
use one, and are measured once, beside the largest number; networkit's BFS and SSSP use one as well.
"""


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    parts = ["# Graph analytics beside other systems", f"{results['date']}. {named(results['machine'])}."]
    parts += [f"{named(results['versions'])}.", LEGEND]
    parts.append(by_size(results["runs"]))
    for runs in by_graph(results["runs"]):
        parts += [heading(runs[0]["graph"]), comparison(runs), notes(runs)]
    parts += [limits(results["runs"]), preparation(results["runs"]), memory(results), calls(results)]
    parts += [own(results), scaling(results["runs"])]
    if results["problems"]:
        parts.append("## Problems\n\n" + "\n".join(f"- {text}" for text in results["problems"]))
    return "\n\n".join(part for part in parts if part)


def section(title: str, lead: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table under a title; empty without rows."""
    return "\n\n".join(part for part in (f"## {title}", lead, table(head, rows)) if part) if rows else ""


def heading(graph: dict[str, Any]) -> str:
    kind = "directed" if graph["directed"] else "undirected"
    return f"## {graph['name']}\n\n{graph['num_vertices']:,} vertices, {graph['num_arcs']:,} stored arcs, {kind}."


def by_size(runs: Sequence[dict[str, Any]]) -> str:
    """The ratios of generated graphs measured in several sizes: a row for a size, kinds of graphs between strokes."""
    named = {(*run["graph"]["name"].rpartition("-")[::2], run["threads"]): run for run in runs}
    kinds = dict.fromkeys(kind for kind, size, _ in named if size.isdigit())
    sizes = sorted({int(size) for _, size, _ in named if size.isdigit()})
    kernels = [kernel for kernel in KERNELS if any(cells_of(run, kernel) for run in runs)]

    def shown(system: str, threads: int, size: int, kernel: str, kind: str) -> str:
        cells = cells_of(named.get((kind, str(size), threads), {"cells": []}), kernel)
        found = ratio_of(cells[system], cells.get("tgraph")) if system in cells else None
        return f"{found.median:.2f}" if found else "-"

    tables = []
    for which in itertools.product(SYSTEMS, sorted({run["threads"] for run in runs})):
        rows = [[" / ".join(shown(*which, size, each, kind) for kind in kinds) for each in kernels] for size in sizes]
        if any(set(text) - set("- /") for text in itertools.chain(*rows)):
            head = ["{}, {} threads".format(*which), *(KERNELS[kernel].title for kernel in kernels)]
            tables.append(table(head, [[f"2^{size}", *row] for size, row in zip(sizes, rows, strict=True)]))
    lead = f"The peer's time over TGraph's by the number of vertices; graphs: {' / '.join(kinds)}."
    return "\n\n".join(["## By size", lead, *tables]) if len(sizes) > 1 and tables else ""


def by_graph(runs: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    names = dict.fromkeys(run["graph"]["name"] for run in runs)
    return [[run for run in runs if run["graph"]["name"] == name] for name in names]


def comparison(runs: Sequence[dict[str, Any]]) -> str:
    """One table for a graph: a row for each kernel and number of threads."""
    present = {cell["system"] for run in runs for cell in run["cells"]}
    systems = [name for name in SYSTEMS if name in present]
    rows = []
    for kernel in KERNELS:
        for run in sorted(runs, key=lambda run: run["threads"]):
            cells = cells_of(run, kernel)
            if cells:
                rows += rows_of(kernel, run, cells, systems)
    return table(["kernel", "threads", "TGraph ms", *systems, "limit ms", "reached"], rows)


def rows_of(
    kernel: str, run: dict[str, Any], cells: dict[str, dict[str, Any]], systems: Sequence[str]
) -> Iterable[list[str]]:
    """A row to convergence, and for PageRank one for an iteration, which is what the limit is about."""
    title, threads, ours = KERNELS[kernel].title, str(run["threads"]), cells.get("tgraph")
    measured = bool(ours and ours["blocks"] and not ours["error"])
    iterative = kernel.startswith("pagerank")
    bound = run["bounds"][kernel]
    limit = max(bound["streamed"], bound["gathered"])
    median = seconds(ours["blocks"]).median if measured else None
    ratios = [shown_ratio(cells.get(name), ours) for name in systems]
    end = ["", ""] if iterative else [milliseconds(limit), share(limit, median)]
    yield [title, threads, own_time(ours, median), *ratios, *end]
    if iterative:
        count = ours.get("iterations") if measured else None
        each = median / count if median and count else None
        ratios = [shown_ratio(cells.get(name), ours, per_iteration=True) for name in systems]
        yield [f"{title}, one iteration", threads, milliseconds(each), *ratios, milliseconds(limit), share(limit, each)]


def own_time(ours: dict[str, Any] | None, median: float | None) -> str:
    if ours is None:
        return ""
    if ours["error"]:
        return f"failed: {ours['error']}"
    return milliseconds(median) + mark(ours["verdict"])


def shown_ratio(peer: dict[str, Any] | None, ours: dict[str, Any] | None, per_iteration: bool = False) -> str:
    if peer is None:
        return ""
    if peer["error"]:
        return "wrong" if peer["error"].startswith("WrongResult") else "failed"
    if peer["verdict"].startswith("WRONG"):
        return "wrong"
    found = ratio_of(peer, ours, per_iteration)
    if found is None:
        return "" if per_iteration else f"{milliseconds(seconds(peer['blocks']).median)} ms"
    spread = "" if found.low == found.high else f" ({found.low:.3g}..{found.high:.3g})"
    return f"{found.median:.3g}{spread}{mark(peer['verdict'])}"


def notes(runs: Sequence[dict[str, Any]]) -> str:
    """Systems that were skipped and errors, each once."""
    found = {f"{run['threads']} threads: {text}" for run in runs for text in run["skipped"]}
    for run in runs:
        for cell in run["cells"]:
            where = f"{run['threads']} threads: {cell['system']}, {KERNELS[cell['kernel']].title}"
            if cell["error"]:
                found.add(f"{where}: {cell['error']}")
            elif cell["verdict"].startswith("WRONG"):
                found.add(f"{where}: {cell['verdict']}")
            elif cell["note"]:
                found.add(f"{where}: {cell['note']}")
    return "\n".join(f"- {text}" for text in sorted(found))


def limits(runs: Sequence[dict[str, Any]]) -> str:
    """The rates of the probes, and how the work of each kernel is counted."""
    if not runs:
        return ""
    rows = []
    for run in runs:
        probe = run["limits"]
        rates = [f"{rate / 1e6:.0f}" for rate in probe["gathers"].values()]
        rows.append([run["graph"]["name"], str(run["threads"]), f"{probe['bandwidth'] / 1e9:.1f}", *rates])
    sizes = [f"gathers from {int(size) >> 20} MiB, M/s" for size in runs[0]["limits"]["gathers"]]
    formulas = {kernel: bound["formula"] for run in runs for kernel, bound in run.get("bounds", {}).items()}
    listed = "\n".join(f"- {KERNELS[kernel].title}: {formula}" for kernel, formula in formulas.items())
    head = table(["beside", "threads", "streaming read, GB/s", *sizes], rows)
    return f"""## Limits

{head}

The limit of a kernel is the larger of two times, its bytes over the bandwidth and its gathers over the rate of random
gathers from a table of that size (n vertices, m stored arcs). Where ids are not shuffled gathers are cheaper than
random ones, and a fused loop gathers faster than torch.index_select, the probe: more than 100 % of the limit can be
reached.

{listed}"""


def preparation(runs: Sequence[dict[str, Any]]) -> str:
    """Seconds that loading and conversion took, which are not counted above."""
    systems = [name for name in ("tgraph", *SYSTEMS) if any(name in run["prepare"] for run in runs)]
    rows = []
    for run in runs:
        seconds = (f"{run['prepare'][name]:.3g}" if name in run["prepare"] else "" for name in systems)
        rows.append([run["graph"]["name"], str(run["threads"]), *seconds])
    lead = "Seconds to make each system's structures, weighted and unweighted, from arrays (TGraph: from its file)."
    return section("Loading and conversion", lead, ["graph", "threads", *systems], rows)


def memory(results: dict[str, Any]) -> str:
    graph = results["runs"][0]["graph"]["name"] if results["runs"] else "the first graph"

    def megabytes(row: dict[str, Any], step: str) -> str:
        return f"{row[step] / 2**20:.0f}" if step in row else row.get("error", "")

    steps = ("imported", "loaded", "searched")
    rows = [[row["system"], *(megabytes(row, step) for step in steps)] for row in results.get("memory", ())]
    lead = f"The largest resident set so far, MiB, of a process that loads {graph} without weights and runs one BFS."
    return section("Peak memory", lead, ["system", "after import", "after loading", "after BFS"], rows)


def calls(results: dict[str, Any]) -> str:
    calls, rows = results.get("calls", ()), []
    systems = [name for name in SYSTEMS if any(name in row["peers"] for row in calls)]
    for row in calls:
        times = (microseconds(row[part]) for part in ("first", "total", "kernels", "overhead"))
        others = (microseconds(row["peers"].get(name, "")) for name in systems)
        whose = [row["graph"], str(row["edges"]), row["algorithm"], str(row["threads"])]
        rows.append([*whose, *times, str(row["kernel_calls"]), *others])
    parts = ["first call", "call", "in kernels", "overhead"]
    head = ["graph", "edges", "algorithm", "threads", *parts, "kernel calls", *systems]
    lead = "Microseconds: the first call on a graph, medians of those that follow and of the time inside compiled"
    return section("Small graphs", f"{lead}\nkernels, and the medians of other systems.", head, rows)


def own(results: dict[str, Any]) -> str:
    rows = []
    for row in results.get("user", ()):
        if "error" in row:
            rows.append([row["graph"], row["algorithm"], row["error"], "", ""])
            continue
        spread = Spread(**row["ratio"])
        shown = f"{spread.median:.3g} ({spread.low:.3g}..{spread.high:.3g})"
        rows.append([row["graph"], row["algorithm"], milliseconds(row["first"]), milliseconds(row["second"]), shown])
    head = ["graph", "algorithm", "shipped ms", "own ms", "own / shipped"]
    return section("Programs of a user", "", head, rows)


def scaling(runs: Sequence[dict[str, Any]]) -> str:
    """The time of TGraph with the fewest threads over that with more, from the tables above."""
    rows = []
    for measured in by_graph(runs):
        fewest, *others = sorted(measured, key=lambda run: run["threads"])
        for run, kernel in itertools.product(others, KERNELS):
            one, many = (cells_of(each, kernel).get("tgraph") for each in (fewest, run))
            if one and many and not (one["error"] or many["error"]):
                times = [seconds(cell["blocks"]).median for cell in (one, many)]
                counts = [str(fewest["threads"]), str(run["threads"])]
                title = KERNELS[kernel].title
                rows.append([run["graph"]["name"], title, *counts, f"{times[0] / times[1]:.2f}"])
    lead = "Medians of the tables above; the two were measured one after the other, not in turns."
    head = ["graph", "kernel", "threads", "and threads", "times faster"]
    return section("More threads", lead, head, rows)


def microseconds(value: float | str) -> str:
    """A time, or the error."""
    return value if isinstance(value, str) else f"{value * 1e6:.3g}" if value < 1e-4 else f"{value * 1e6:.0f}"


def share(limit: float, value: float | None) -> str:
    return f"{limit / value:.0%}" if value else ""


def mark(verdict: str) -> str:
    return MARKS.get(verdict, " WRONG")


def save(results: dict[str, Any], output: Path) -> list[Path]:
    """Write the samples and the tables."""
    files.save("analytics", markdown(results), results, output, quiet=True)
    return [output / "analytics.json", output / "analytics.md"]


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(*save(json.loads(source.read_text()), source.parent))
