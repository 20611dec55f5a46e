"""The time of `tgraph.read` for a text edge list, against pyarrow.csv's bare parse of the same file.

    python -m bench.reading [--edges 30000000] [--rounds 5]

Writes `u v` lines of a random graph into a temporary folder, times both readers in turn, checks that the graph holds
every edge of the file, and prints medians and their ratio. The aim is a ratio of 2 with the CSR built.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

import tgraph
from bench.command import parsed
from bench.measure import medians, timed


def generate(path: Path, num_edges: int) -> tuple[int, int]:
    """Write random edges, 16 to a vertex, shuffled; return the sums of sources and of targets."""
    random = np.random.default_rng(0)
    src, dst = (random.integers(0, max(num_edges // 16, 1), num_edges) for _ in range(2))
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    csv.write_csv(pa.table({"source": src, "target": dst}), str(path), options)
    return int(src.sum()), int(dst.sum())


def parse(path: Path) -> pa.Table:
    """A lower bound for readers built on pyarrow: two integer columns from text."""
    names, types = ["source", "target"], {"source": pa.int64(), "target": pa.int64()}
    options = (
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(delimiter=" "),
        csv.ConvertOptions(column_types=types),
    )
    return csv.read_csv(str(path), *options)


def check(graph: tgraph.Graph, num_edges: int, sums: tuple[int, int]) -> None:
    ids = np.arange(graph.num_vertices) if graph.vertices is None else np.asarray(graph.vertices)
    found = int((ids * graph.out_degree.numpy()).sum()), int(ids[graph.neighbors.numpy()].sum())
    assert graph.num_edges == num_edges and found == sums, f"read {graph}, sums {found} instead of {sums}"


def main() -> None:
    arguments = parsed(__doc__, edges=30_000_000, rounds=5)
    seconds: dict[str, list[float]] = {"pyarrow.csv": [], "tgraph.read": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        sums = generate(path, arguments.edges)
        for _ in range(arguments.rounds):
            seconds["pyarrow.csv"].append(timed(parse, path)[0])
            taken, graph = timed(tgraph.read, path)
            seconds["tgraph.read"].append(taken)
            check(graph, arguments.edges, sums)
    middle = medians(seconds)
    for name, times in seconds.items():
        print(f"{name:12} {middle[name]:6.2f} s   {', '.join(f'{t:.2f}' for t in times)}")
    print(f"ratio        {middle['tgraph.read'] / middle['pyarrow.csv']:6.2f}     for {arguments.edges:,} edges")


if __name__ == "__main__":
    main()
