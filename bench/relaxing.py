"""Relaxations over blocks: how many are loaded, by how the graph is partitioned and by how many the memory holds.

    python -m bench.relaxing [--graphs USA-road-BAY,rmat-18] [--data ../shared/data] [--blocks 64] [--held 1,4,16,64]
        [--repeat 3]

Each program runs to its fixpoint on blocks in memory, of which so many are held at once: BFS and SSSP from the vertex
with the most arcs, and WCC as a relaxation, where the smallest index floods each component. Loads and visits depend on
no clock but where blocks are held that are loaded ahead. The time is the best of the repeats on one thread, beside
that of the same program in memory; for WCC the shipped one, by union-find. Every result is checked against that.

The spread of a partition is the largest block over the mean, in bytes: all buffers have the size of the largest.
Results go to bench/results/relaxing.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from bench.graphs import Missing, real
from bench.machine import describe_machine
from bench.report import table
from tgraph.stream.partitioning.cuts import partition
from tgraph.stream.run.budget import runtime_bytes, vertex_bytes
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.streamed import Streamed

GRAPHS = "USA-road-BAY,USA-road-d.NY,USA-road-NW,cnr-2000,web-NotreDame,rmat-18"
RESULTS = Path(__file__).parent / "results"


class LeastLabel(tg.Relaxation):
    """Components by relaxation: the smallest index, in the graph that was partitioned, that reaches a vertex."""

    reduce, edge = "min", "copy"

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        first = torch.arange(graph.num_vertices) if graph.order is None else graph.order
        return first.to(torch.int32), graph.everything()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--blocks", type=int, default=64)
    parser.add_argument("--held", default="1,4,16,64")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = []
    for name in options.graphs.split(","):
        try:
            graph = named(name, options.data)
        except Missing as why:
            print(why)
            continue
        for method in ("ebp", "wcp"):
            runs += measured(name, graph, method, options)
    results = {"machine": describe_machine(), "blocks": options.blocks, "runs": runs}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "relaxing.json").write_text(json.dumps(results, indent=1))
    (RESULTS / "relaxing.md").write_text(markdown(runs))


def named(name: str, data: Path) -> tg.Graph:
    """A graph, undirected. Raises Missing where there is none of that name."""
    if name.startswith("rmat-"):
        return tg.generators.rmat(int(name[5:]), 16, weighted=True)
    graph = real(name, data)
    return graph.to_undirected("first") if graph.directed else graph


def measured(name: str, graph: tg.Graph, method: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What each program takes on the graph in parts by a method, for each number of blocks held."""
    parts = partition(graph, options.blocks, method)
    held, source = parts.apply(graph), int(graph.out_degree.argmax())
    moved = source if held.order is None else int((held.order == source).nonzero())
    programs: dict[str, tuple[Callable[[tg.Graph, int], Any], Any]] = {
        "bfs": (lambda graph, source: tg.algorithms.BFS(source), None),
        "sssp": (lambda graph, source: tg.algorithms.SSSP(source), None),
        "wcc": (lambda graph, source: LeastLabel(), tg.algorithms.WCC()),
    }
    runs = []
    for program, (make, other) in programs.items():
        plain = graph if program == "sssp" else tg.Graph(graph.offset, graph.neighbors, directed=False)
        inside = held if program == "sssp" else tg.Graph(held.offset, held.neighbors, directed=False)
        inside = inside.with_order(held.order)
        wanted, in_memory = best_of(options.repeat, lambda make=make, other=other, plain=plain: tg.run(
            other or make(plain, source), plain
        ))  # fmt: skip
        for buffers in map(int, options.held.split(",")):
            blocks = HostBlocks(inside, parts.bounds)
            found, run = streamed(blocks, lambda make=make, inside=inside: make(inside, moved), buffers, options.repeat)
            assert torch.equal(in_given_order(inside, found.values), wanted.values.to(found.values.dtype))
            sizes = [extent.nbytes for extent in blocks.index]
            run |= {"graph": name, "program": program, "method": method, "held": buffers, "in memory": in_memory}
            runs.append(run | {"spread": max(sizes) * len(sizes) / sum(sizes)})
            print(json.dumps(runs[-1]), flush=True)
    return runs


def streamed(
    blocks: HostBlocks, make: Callable[[], tg.Program], buffers: int, repeat: int
) -> tuple[Any, dict[str, Any]]:
    """The last run, and what a run takes: the loads of one that begins with nothing held, the best time of all."""
    needed = vertex_bytes(blocks, 24 * (blocks.num_vertices + 1)) + buffers * max(
        extent.nbytes for extent in blocks.index
    )
    seconds = []
    for _ in range(repeat):
        layout = Streamed(blocks, needed + runtime_bytes(needed), torch.device("cpu"))
        graph = tg.Graph.of_storage(layout, None, False, blocks.order)
        begun = time.perf_counter()
        found = tg.run(make(), graph, trace=True)
        seconds.append(time.perf_counter() - begun)
    counts = layout.counts
    changes = sum(each.changed_vertices for each in found.trace.iterations)
    return found, {"loads": counts.loads, "visits": counts.visits, "changes": changes, "seconds": min(seconds)}


def best_of(repeat: int, work: Callable[[], Any]) -> tuple[Any, float]:
    """(the last result, the best time in seconds)"""
    seconds = []
    for _ in range(repeat):
        begun = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begun)
    return result, min(seconds)


def in_given_order(graph: tg.Graph, values: Tensor) -> Tensor:
    """Values of the partitioned graph for the vertices as they were before."""
    return values if graph.order is None else torch.empty_like(values).scatter_(0, graph.order, values)


def markdown(runs: list[dict[str, Any]]) -> str:
    """The runs as a table."""
    head = ("graph", "program", "parts", "spread", "held", "loads", "visits", "changes", "ms", "ms in memory")
    return table(head, [
        (
            run["graph"], run["program"], run["method"], f"{run['spread']:.2f}", str(run["held"]), f"{run['loads']:,}",
            f"{run['visits']:,}", f"{run['changes']:,}", f"{run['seconds'] * 1e3:,.0f}",
            f"{run['in memory'] * 1e3:,.0f}",
        )
        for run in runs
    ])  # fmt: skip


if __name__ == "__main__":
    main()
