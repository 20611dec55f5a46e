"""Compressed blocks compared with plain ones: the bytes of a pass, and the time and bytes of algorithms that stream.

    python -m bench.compressed [--graphs cnr-2000,COLLAB] [--parts 8] [--data ../shared/data] [--repeat 5]

Each graph is written twice, plain and with layout="virtual", into as many blocks, and opened with the same budget, that
of `--buffers` plain blocks beside what the vertices take: more of the compressed ones fit. Of blocks
that are there, "pass" is what those of a section hold, "sum" the time of a sum over all arcs, and "unfold" the time in
which all are written out, which is what a search pays for its visits. Every result is checked against that in memory;
times are the least of all turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

import tgraph as tg
from bench.graphs import Missing, real
from bench.report import table
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.run.budget import vertex_bytes

LAYOUTS = {"plain": None, "virtual": "virtual"}
ITERATIONS = 10
Algorithm = Callable[[tg.Graph], torch.Tensor]


def main() -> None:
    arguments = parse()
    for name in arguments.graphs:
        try:
            graph = real(name, arguments.data)
        except Missing as missing:
            print(f"{name}: {missing}")
            continue
        graph = tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            print(f"{name}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {arguments.parts} blocks")
            rows = compare(graph, Path(folder), arguments)
            print(table(["what", *LAYOUTS], [[what, *map(str, found.values())] for what, found in rows.items()]))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=["cnr-2000", "COLLAB"])
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--buffers", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("."), help="where the files lie meanwhile")
    return parser.parse_args()


def compare(graph: tg.Graph, folder: Path, arguments: argparse.Namespace) -> dict[str, dict[str, str]]:
    """{what is measured: {layout: the value}}"""
    rows: dict[str, dict[str, str]] = {}

    def note(what: str, layout: str, value: str) -> None:
        rows.setdefault(what, {})[layout] = value

    for layout, name in LAYOUTS.items():
        begin = time.perf_counter()
        write_partitioned(graph, folder / layout, arguments.parts, layout=name)
        note("write, s", layout, f"{time.perf_counter() - begin:.1f}")
        with BlockFile(folder / layout) as file:
            section = file.sections[-1]
            note("pass, MB", layout, f"{sum(file.index[block].nbytes for block in file.blocks(section)) / 1e6:.1f}")
    with BlockFile(folder / "plain") as plain, BlockFile(folder / "virtual") as compressed:
        size = max(extent.nbytes for extent in plain.index)
        budget = vertex_bytes(compressed) + arguments.buffers * size
    for what, least in in_turns(folder, arguments.repeat).items():
        for layout, seconds in least.items():
            note(what, layout, f"{1000 * seconds:.1f}")
    for what, algorithm in algorithms(graph).items():
        wanted = algorithm(graph)
        for layout in list(LAYOUTS) * arguments.repeat:
            seconds, moved = streamed(folder / layout, budget, algorithm, wanted)
            kept = rows.get(f"{what}, s", {}).get(layout)
            note(f"{what}, s", layout, f"{min(seconds, float(kept or seconds)):.3f}")
            note(f"{what}, MB", layout, f"{moved:.1f}")
    return rows


def algorithms(graph: tg.Graph) -> dict[str, Algorithm]:
    source = int(graph.out_degree.argmax())
    return {
        f"PageRank, {ITERATIONS} iterations": lambda held: tg.algorithms.pagerank(
            held, tol=None, max_iterations=ITERATIONS
        ),
        "BFS": lambda held: tg.algorithms.bfs(held, source),
        "components": tg.algorithms.wcc,
    }


def streamed(path: Path, budget: int, algorithm: Algorithm, wanted: torch.Tensor) -> tuple[float, float]:
    """Seconds, and the MB that were read."""
    held = tg.open(path, memory=budget)
    begin = time.perf_counter()
    found = algorithm(held)
    seconds = time.perf_counter() - begin
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-9)
    return seconds, held.layout.counts.nbytes / 1e6


def in_turns(folder: Path, repeat: int) -> dict[str, dict[str, float]]:
    """The least seconds of computing on blocks that are there: of a sum over all arcs, and of writing them out."""
    least: dict[str, dict[str, float]] = {"sum, ms": {}, "unfold, ms": {}}
    held = {layout: tg.open(folder / layout, memory="100GB") for layout in LAYOUTS}
    for _ in range(3 * repeat):
        for layout, graph in held.items():
            for what, work in (("sum, ms", sum_of_ones), ("unfold, ms", written_out)):
                before = graph.layout.counts
                work(graph)
                seconds = graph.layout.counts.since(before).computing
                least[what][layout] = min(least[what].get(layout, seconds), seconds)
    return least


def sum_of_ones(graph: tg.Graph) -> None:
    tg.aggregate(graph, torch.ones(graph.num_vertices))


def written_out(graph: tg.Graph) -> None:
    graph.layout.visit(lambda block: block.neighbors)


if __name__ == "__main__":
    main()
