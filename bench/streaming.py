"""Graphs larger than their memory budget: time, bytes read and peak memory, compared with numpy and scipy.

    python -m bench.streaming [--scale 20] [--edge-factor 64] [--share 4] [--blocks 64] [--repeat 3] [--folder DIR]

A power-law graph is written as a partitioned file. Then each system, in a separate process, runs on it with a budget
of 1/share of its arcs: PageRank (10 iterations), BFS and WCC here, PageRank for the peers. Where control groups of
version 1 or 2 allow it, the process is limited to 1.15 times the budget in addition to its imports, page cache
included. Results are checked against those in memory. Reported for each run:

    seconds     the best, the median
    bandwidth   bytes of blocks over the seconds in which blocks were visited, and over all
    plain       that of a sequential read of the same file in the same process, past the page cache, into ordinary
                memory; and into one buffer of huge pages, the fastest there is. Nothing is done with the bytes
    overlap     how much of the shorter of loading and computing was hidden behind the longer
    share read  loads over those of all blocks in every round that the program takes in memory
    peak        of the resident set as the system reports it, less that of the imports, over the budget

Files are written below --folder, by default that for temporary ones; results to bench/results/streaming.json and .md.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix

import tgraph as tg
from bench.command import parsed
from bench.machine import describe_machine
from bench.measure import timed
from bench.process import drop, launch, peak
from bench.results import named, save, table
from examples.products import control_group
from tgraph.stream import write_partitioned
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import page_aligned

ROUNDS = 10
OURS = ("pagerank", "bfs", "wcc")
PEERS = ("numpy memmap", "scipy memmap")
SLACK = 1.15


def main() -> None:
    options = parsed(__doc__, scale=20, edge_factor=64, share=4, blocks=64, repeat=3, folder=Path)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        facts = alone("--prepare", folder, options.scale, options.edge_factor, options.blocks)
        budget = facts["nbytes"] // options.share
        runs = [measured(what, Path(folder), budget, options.repeat) for what in (*OURS, *PEERS)]
    results = {"machine": describe_machine(), "graph": facts, "budget": budget, "runs": runs}
    save("streaming", markdown(results), results)


def alone(*arguments: Any, group: Path | None = None) -> Any:
    """The last line that this module prints in a separate process, read as JSON."""
    command = [sys.executable, "-m", "bench.streaming", *map(str, arguments)]
    return json.loads(launch(command, os.cpu_count() or 1, group)[0][-1])


# ---- the graph -------------------------------------------------------------------------------------------------------


def prepare(folder: Path, scale: int, edge_factor: int, blocks: int) -> dict[str, Any]:
    """Write the partitioned file, arrays for the peers, and the results in memory; what the graph is."""
    graph = tg.generators.rmat(scale, edge_factor)
    write_partitioned(graph, folder / "graph.tg", blocks)
    np.save(folder / "indptr.npy", graph.offset.numpy())
    np.save(folder / "indices.npy", graph.neighbors.numpy())
    source = int((graph.out_degree == graph.out_degree.median()).nonzero()[0])
    expected, rounds, in_memory = {}, {}, {}
    for name, run in programs(source).items():
        expected[name] = run(graph).to(torch.float64).numpy()
        in_memory[name] = timed(run, graph)[0]
    for name, program in {"bfs": tg.algorithms.BFS(source), "wcc": tg.algorithms.PlainWCC()}.items():
        rounds[name] = tg.run(program, graph, trace=True, mode="pull").iterations
    np.savez(folder / "expected.npz", **expected)
    nbytes = (folder / "graph.tg").stat().st_size
    return {
        "name": f"rmat-{scale} x {edge_factor}",
        "num_vertices": graph.num_vertices,
        "num_arcs": graph.num_arcs,
        "nbytes": nbytes,
        "blocks": blocks,
        "source": source,
        "rounds": {"pagerank": ROUNDS, **rounds},
        "in_memory": in_memory,
    }


def programs(source: int) -> dict[str, Callable[[Any], Any]]:
    """{name: the function of a graph that is run}"""
    return {
        "pagerank": lambda graph: tg.algorithms.pagerank(graph, tol=None, max_iterations=ROUNDS),
        "bfs": lambda graph: tg.algorithms.bfs(graph, source),
        "wcc": tg.algorithms.wcc,
    }


# ---- runs ------------------------------------------------------------------------------------------------------------


def measured(what: str, folder: Path, budget: int, repeat: int) -> dict[str, Any]:
    """One system, run so many times in separate processes, limited where that is allowed."""
    base = launch([sys.executable, "-c", "import bench.streaming, tgraph.algorithms"], os.cpu_count() or 1)[1]
    runs: list[dict[str, Any]] = []
    with control_group(int(budget * SLACK) + base) as group:
        for _ in range(repeat):
            try:
                runs.append(alone("--child", what, folder, budget, group=group))
            except Exception as fault:
                return {"what": what, "error": f"{type(fault).__name__}: {fault}"[:200], "limited": group is not None}
    return {"what": what, "imports": base, "limited": group is not None, "runs": runs}


def child(what: str, folder: Path, budget: int) -> dict[str, Any]:
    """Measure one run, in this process."""
    return streamed(what, folder, budget) if what in OURS else mapped(what, folder, budget)


def streamed(what: str, folder: Path, budget: int) -> dict[str, Any]:
    """A TGraph run, between two plain reads of the same file."""
    imported, source = peak(), json.loads((folder / "source.json").read_text())
    graph = tg.open(folder / "graph.tg", memory=budget)
    seconds, found = timed(programs(source)[what], graph)
    used, counts = peak(), graph.layout.counts  # type: ignore[union-attr]
    check(what, found.double().numpy(), folder)
    read = {}
    for kind, buffer in {"plain": ordinary, "fastest": page_aligned}.items():
        read[kind] = statistics.median(
            plain_read(folder / "graph.tg", graph.layout.section.blocks, buffer) for _ in range(3)
        )
    return {
        "seconds": seconds,
        "visiting": counts.elapsed,
        "loads": counts.loads,
        "visits": counts.visits,
        "nbytes": counts.nbytes,
        "loading": counts.loading,
        "computing": counts.computing,
        "overlap": counts.overlap,
        **read,
        "peak": used,
        "grown": used - imported,
    }


def plain_read(path: Path, blocks: list[int], buffer: Callable[[int], Any]) -> float:
    """Bytes per second of reading the blocks in order into one buffer, and nothing else."""
    with BlockFile(path) as file:
        memory = buffer(max(file.index[block].nbytes for block in blocks))
        memory.zero_()
        start = time.perf_counter()
        for block in blocks:
            file.fetch(block, memory)
        return sum(file.index[block].nbytes for block in blocks) / (time.perf_counter() - start)


def ordinary(nbytes: int) -> Any:
    """Memory as an allocator gives it, from the next page on."""
    buffer = torch.empty(nbytes + 4096, dtype=torch.uint8)
    return buffer[-buffer.data_ptr() % 4096 :][:nbytes]


def mapped(what: str, folder: Path, budget: int) -> dict[str, Any]:
    """PageRank on arrays that are mapped from the disk, as one writes it with numpy or scipy, rows by rows so that what
    is made of the arcs keeps to a quarter of the budget."""
    imported = peak()
    drop(folder / "indices.npy")  # its pages are accounted to the process that read them
    start = time.perf_counter()
    indptr = np.load(folder / "indptr.npy")
    indices = np.load(folder / "indices.npy", mmap_mode="r")
    cuts = np.searchsorted(indptr, np.arange(0, indptr[-1], max(budget // 4 // 12, 1)))
    step = by_scipy if what.startswith("scipy") else by_numpy
    rank = ranks(indptr, indices, step, np.append(cuts, len(indptr) - 1))
    seconds = time.perf_counter() - start
    used = peak()
    check("pagerank", rank, folder)
    return {"seconds": seconds, "peak": used, "grown": used - imported}


def ranks(indptr: Any, indices: Any, step: Callable[..., Any], cuts: Any) -> Any:
    """The iterations of PageRank, whose sums `step` computes from cut to cut."""
    degree = np.diff(indptr)
    rank = np.full(len(degree), 1 / len(degree), dtype=np.float32)
    for _ in range(ROUNDS):
        sent = (rank * 0.85 / np.maximum(degree, 1)).astype(np.float32)
        lost = 0.85 * rank[degree == 0].sum(dtype=np.float64)
        rank = step(indptr, indices, sent, cuts) + np.float32((0.15 + lost) / len(degree))
    return rank


def by_numpy(indptr: Any, indices: Any, sent: Any, cuts: Any) -> Any:
    received = np.zeros(len(indptr) - 1, dtype=np.float32)
    for first, end in itertools.pairwise(cuts):
        messages = sent[indices[indptr[first] : indptr[end]]]
        rows = np.flatnonzero(np.diff(indptr[first : end + 1])) + first
        if len(rows):
            received[rows] = np.add.reduceat(messages, indptr[rows] - indptr[first], dtype=np.float64)
    return received


def by_scipy(indptr: Any, indices: Any, sent: Any, cuts: Any) -> Any:
    received = np.zeros(len(indptr) - 1, dtype=np.float32)
    for first, end in itertools.pairwise(cuts):
        arcs = slice(indptr[first], indptr[end])
        ones = np.ones(arcs.stop - arcs.start, dtype=np.float32)
        rows = csr_matrix((ones, indices[arcs], indptr[first : end + 1] - indptr[first]), (end - first, len(sent)))
        received[first:end] = rows @ sent.astype(np.float64)
    return received


def check(what: str, found: Any, folder: Path) -> None:
    """Raises AssertionError where a result is not that in memory."""
    with np.load(folder / "expected.npz") as expected:
        np.testing.assert_allclose(found, expected[what], rtol=1e-3 if what == "pagerank" else 0, atol=1e-9)


# ---- report ----------------------------------------------------------------------------------------------------------


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    graph, budget = results["graph"], results["budget"]
    in_memory = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in graph["in_memory"].items())
    about = (
        f"{named(results['machine'])}.\n\n"
        f"{graph['name']}: {graph['num_vertices']:,} vertices, {graph['num_arcs']:,} arcs, "
        f"{graph['nbytes'] / 1e6:,.0f} MB in {graph['blocks']} blocks; budget {budget / 1e6:,.0f} MB. "
        f"In memory, without a budget: {in_memory}."
    )
    head = (
        "system", "seconds", "GB/s visiting", "in all", "plain", "fastest", "of plain", "overlap", "share read", "peak",
    )  # fmt: skip
    rows = [row(run, graph, budget) for run in results["runs"]]
    return f"# Graphs larger than their memory\n\n{about}\n\n{table(head, rows)}"


def row(run: dict[str, Any], graph: dict[str, Any], budget: int) -> list[str]:
    name = run["what"] + ("" if run["limited"] else " (not limited)")
    if "error" in run:
        return [name, run["error"], *[""] * 8]

    def middle(value: Callable[[dict[str, Any]], float]) -> float:
        return statistics.median(map(value, run["runs"]))

    seconds = f"{min(each['seconds'] for each in run['runs']):.3g}, {middle(lambda each: each['seconds']):.3g}"
    used = f"{middle(lambda each: each['grown']) / budget:.2f}"
    if run["what"] not in OURS:
        return [name, seconds, *[""] * 7, used]
    everything = graph["blocks"] * graph["rounds"][run["what"]]
    return [
        name,
        seconds,
        f"{middle(lambda each: each['nbytes'] / each['visiting']) / 1e9:.2f}",
        f"{middle(lambda each: each['nbytes'] / each['seconds']) / 1e9:.2f}",
        f"{middle(lambda each: each['plain']) / 1e9:.2f}",
        f"{middle(lambda each: each['fastest']) / 1e9:.2f}",
        f"{middle(lambda each: each['nbytes'] / each['visiting'] / each['plain']):.0%}",
        f"{middle(lambda each: each['overlap']):.0%}",
        f"{middle(lambda each: each['loads'] / everything):.1%}",
        used,
    ]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--prepare", folder, scale, edge_factor, blocks]:
            facts = prepare(Path(folder), int(scale), int(edge_factor), int(blocks))
            (Path(folder) / "source.json").write_text(json.dumps(facts["source"]))
            print(json.dumps(facts))
        case ["--child", what, folder, budget]:
            print(json.dumps(child(what, Path(folder), int(budget))))
        case _:
            main()
