"""Volumes of partitions of real and generated graphs, kept in a file as they are measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

import tgraph as tg
from bench.graphs import Missing, real
from bench.scaling.placing import LARGEST, METHODS, measure

SHARES = (8, 4, 2, 1)  # of a crawl, the pages up to a number: each has the arcs of a crawl that ended there
REAL = {"web": ("cnr-2000", "web-NotreDame"), "road": ("USA-road-FLA", "USA-road-NW")}
FEW = 2**22  # arcs, above which only powers of 4 are measured


def graphs(scales: list[int], data: Path) -> Iterator[tuple[str, str, Callable[[], tg.Graph]]]:
    """(family, name, what makes it)"""
    for family, names in REAL.items():
        for name in names:
            for share in SHARES if name == "cnr-2000" else (1,):
                yield family, name if share == 1 else f"{name}/{share}", partial(first_part, name, data, share)
    for scale in scales:
        yield "rmat", f"rmat-{scale}", partial(tg.generators.rmat, scale, 16)


def first_part(name: str, data: Path, share: int) -> tg.Graph:
    """The first of the vertices of a real graph, n / share of them, and the arcs between them."""
    graph = real(name, data)
    kept = torch.arange(graph.num_vertices) < graph.num_vertices // share
    return tg.Graph(graph.offset, graph.neighbors, directed=graph.directed).subgraph(kept)


def measured(scales: list[int], parts: list[int], data: Path, path: Path) -> list[dict]:
    """A row for each graph, partition and number of parts; those that lie in the file are not measured again."""
    rows = json.loads(path.read_text()) if path.exists() else []
    done = {(row["graph"], row["method"], row["parts"]) for row in rows}
    for family, name, build in graphs(scales, data):
        wanted = [(name, method, p) for p in parts for method in METHODS if (name, method, p) not in done]
        if not wanted:
            continue
        try:
            graph = build()
        except Missing as reason:
            print(f"{name} is left out: {reason}")
            continue
        number, count = levels(graph)
        for _, method, p in wanted:
            if graph.num_arcs > LARGEST.get(method, graph.num_arcs) or (
                graph.num_arcs > FEW and p.bit_length() % 2 == 0
            ):
                continue
            rows.append(
                {"family": family, "graph": name, "method": method, "parts": p} | row(graph, method, p, number, count)
            )
            path.write_text(json.dumps(rows, indent=1))
            print(*(f"{key} {value}" for key, value in rows[-1].items() if key not in ("levels", "ranks")), flush=True)
    return rows


def levels(graph: tg.Graph) -> tuple[Tensor, int]:
    """The hops of each vertex from one of the highest out-degree, int64 [n], and the number of levels; unreached
    vertices come after the rest."""
    depth = tg.algorithms.bfs(graph, int(graph.out_degree.argmax())).long()
    count = int(depth.max()) + 1
    return torch.where(depth < 0, count, depth), count


def row(graph: tg.Graph, method: str, parts: int, number: Tensor, levels: int) -> dict:
    begin = time.process_time()
    found = measure(graph, method, parts, number)
    by_rank, arcs = found.by_rank.double(), found.arcs.double()
    return {
        "vertices": graph.num_vertices,
        "arcs": graph.num_arcs,
        "total": found.total,
        "values": int(found.values.sum()),
        "mean": float(by_rank.mean()),
        "largest": float(by_rank.max()),
        "arcs_balance": float(arcs.max() / arcs.mean()),
        "inside": int(found.inside.sum()) / max(graph.num_arcs, 1),
        "peers": found.peers,
        "levels": found.levels[:levels].tolist(),
        "ranks": torch.stack((arcs, by_rank)).tolist() if graph.num_arcs < FEW else [],
        "cpu_seconds": round(time.process_time() - begin, 2),
    }
