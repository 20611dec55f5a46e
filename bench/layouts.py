"""Layouts of an adjacency: what each stores, how long it takes to build, and how fast sums over its arcs are.

    python -m bench.layouts [--graphs cnr-2000,COLLAB] [--layouts sell] [--data ../shared/data] [--repeat 7]

For each graph and layout the bytes, the time to build, and the times of a float32 sum over all arcs (1 and 32 columns)
and of an iteration of PageRank, compared with the plain CSR, in turns. Every result is checked against the CSR's.
Ratios of bytes are to a CSR of 4-byte neighbours and no weights, with offsets of 8 bytes, as a Graph has them, and of
4. Results go to bench/results/layouts.json and .md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, fields
from functools import partial
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from bench.command import DATA, RESULTS, parsed
from bench.graphs import GRAPHS, present
from bench.machine import describe_machine
from bench.measure import milliseconds, timed
from bench.peers.tgraph_ import plain
from bench.results import named, save, table
from tgraph.formats import LAYOUTS


@dataclass
class Row:
    """A layout of a graph. `ratio` is to CSR with 8-byte offsets, `ratio4` with 4-byte ones; times in milliseconds,
    those of the CSR, interleaved with them."""

    graph: str
    vertices: int
    arcs: int
    layout: str
    nbytes: int
    ratio: float
    ratio4: float
    build_seconds: float
    sum_1: float
    csr_sum_1: float
    sum_32: float
    csr_sum_32: float
    pagerank: float
    csr_pagerank: float


def main() -> None:
    layouts = [name for name in LAYOUTS if name != "csr"]
    arguments = parsed(__doc__, graphs=GRAPHS, layouts=layouts, data=DATA, repeat=7, output=RESULTS)
    found = list(rows(arguments))
    results: dict[str, Any] = {"machine": describe_machine(), "threads": torch.get_num_threads()}
    results["table"] = [asdict(row) for row in found]
    cells = ([f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in astuple(row)] for row in found)
    head = [field.name for field in fields(Row)]
    save("layouts", f"# Layouts\n\n{named(results['machine'])}\n\n{table(head, cells)}", results, arguments.output)


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    for name, weighted in present(arguments.graphs, arguments.data):
        graph = plain(weighted)
        for layout in arguments.layouts:
            row = one_layout(name, graph, layout, arguments.repeat)
            if row is not None:
                print(f"{name} {layout}: {row.ratio:.2f}x, {row.build_seconds:.2f} s", flush=True)
                yield row


def one_layout(name: str, graph: tg.Graph, layout: str, repeat: int) -> Row | None:
    try:
        built, held = timed(graph.to_format, layout)
    except tg.errors.ArgumentError as refusal:
        print(f"{name} {layout}: {refusal}")
        return None
    n, m = graph.num_vertices, graph.num_arcs
    times = {columns: sums(graph, held, columns, repeat) for columns in (1, 32)}
    ranks = {"csr": partial(ranked, graph), "layout": partial(ranked, held)}
    assert torch.allclose(ranks["csr"](), ranks["layout"](), atol=1e-6), f"{name}: {layout} has other ranks"
    pagerank = milliseconds(ranks, repeat)
    return Row(
        name, n, m, layout, held.nbytes, (8 * (n + 1) + 4 * m) / held.nbytes, (4 * (n + 1) + 4 * m) / held.nbytes,
        built, *times[1], *times[32], pagerank["layout"] / ROUNDS, pagerank["csr"] / ROUNDS,
    )  # fmt: skip


ROUNDS = 10


def ranked(graph: tg.Graph) -> Tensor:
    """The ranks after some iterations."""
    return tg.algorithms.pagerank(graph, tol=None, max_iterations=ROUNDS)


def sums(graph: tg.Graph, held: tg.Graph, columns: int, repeat: int) -> tuple[float, float]:
    """Milliseconds of a sum over all arcs in the layout and in CSR, both checked against each other."""
    data = torch.rand((graph.num_vertices, columns), generator=torch.Generator().manual_seed(0))
    calls = {"csr": partial(tg.aggregate, graph, data), "layout": partial(tg.aggregate, held, data)}
    assert torch.allclose(calls["csr"](), calls["layout"](), rtol=1e-4, atol=1e-3)
    found = milliseconds(calls, repeat)
    return found["layout"], found["csr"]


if __name__ == "__main__":
    main()
