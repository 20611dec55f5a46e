"""Experiments of the papers that TGraph implements, as far as a CPU and the graphs at hand allow.

    python -m bench.papers [layers,storage] [--graphs cnr-2000] [--repeat 5]

directions, compressed, cuts and streamed are of TGraph (SIGMOD 2025): Table 11, push alone and pull alone over the
choice of the engine; Table 6, arcs in a virtual graph over plain ones, with the ratio of bytes; parts by ranges of
edges and by well-connected vertices; PageRank of a file in a share of its bytes over that in memory, beside a memory
map of numpy. shared: eight programs on a file that share what is read, over one after the other. cbm: the ratio of the
compressed binary matrix, and its product with 500 columns beside the CSR of MKL in torch. layers: those of the IO-aware
layers, beside PyTorch Geometric. storage: layouts, and a store that changes, beside CSR. stores: batches of a loader
from each store, with the edges read at first, and hop by hop. Calls take turns; results are compared; times are medians
in ms. Tables go to bench/results/papers.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

import tgraph as tg
from bench.command import DATA, parsed
from bench.dynamic.own import RUNS, Edges
from bench.gnn import problem_of, run_layers
from bench.graphs import present
from bench.layouts import ROUNDS, one_layout, ranked
from bench.measure import milliseconds, timed
from bench.results import save, table
from bench.streaming import by_numpy, ranks

GRAPHS = ["cnr-2000", "web-NotreDame", "soc-Epinions1", "USA-road-NW", "ca-HepPh", "COLLAB", "imdb-actor"]
Row = list[Any]


class Labels(tg.Relaxation):
    """Components by labels, the WCC of the paper, on a graph with both directions."""

    edge = "copy"

    def init(self, graph: tg.Graph) -> tuple[torch.Tensor, tg.Frontier]:
        return torch.arange(graph.num_vertices, dtype=torch.int32), graph.everything()


def programs(graph: tg.Graph) -> dict[str, Callable[[], tg.Program]]:
    source = int(graph.out_degree.argmax())
    return {
        "BFS": lambda: tg.algorithms.BFS(source),
        **({} if graph.weight_dtype is None else {"SSSP": lambda: tg.algorithms.SSSP(source)}),
        "WCC": Labels,
        "PageRank": lambda: tg.algorithms.PageRank(tol=None, max_iterations=10),
        "HITS": lambda: tg.algorithms.HITS(tol=None, max_iterations=5),
    }


def both_ways(graph: tg.Graph, weights: bool = False) -> tg.Graph:
    """Each edge in both directions, as the paper has its graphs."""
    held = graph.weights if weights else None
    return tg.Graph.from_edges(
        *graph.to_edge_index(), held, num_vertices=graph.num_vertices, directed=False, multi="first"
    )


def compared(calls: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Medians in ms of calls that give the same values."""
    results = [call().values for call in calls.values()]
    for each in results[1:]:
        for one, other in zip(tree_leaves(results[0]), tree_leaves(each), strict=True):
            torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-6)
    return milliseconds(calls, repeat)


def directions(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph, weights=True)
    for title, make in programs(graph).items():
        if title in ("PageRank", "HITS"):
            continue  # everything is active: they pull
        modes = ("auto", "push", "pull")
        taken = compared(
            {mode: lambda make=make, mode=mode: tg.run(make(), graph, mode=mode) for mode in modes}, repeat
        )
        yield [name, title, *(f"{taken[mode]:.2f}" for mode in modes), *ratios(taken, "auto", "push", "pull")]


def compressed(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    seconds, virtual = timed(graph.to_format, "virtual")
    for title, make in programs(graph).items():
        held = {"plain": graph, "virtual": virtual}
        taken = compared({key: lambda make=make, on=on: tg.run(make(), on) for key, on in held.items()}, repeat)
        size = graph.nbytes / virtual.layout.nbytes
        times = [f"{taken[key]:.2f}" for key in held]
        yield [name, title, f"{size:.2f}", f"{seconds:.2f}", *times, *ratios(taken, "virtual", "plain")]


def cuts(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    for method in ("ebp", "wcp"):
        seconds, parts = timed(tg.stream.partition, graph, 8, method)
        ordered = parts.apply(graph).to_csr()
        source, target = ordered.to_edge_index()
        bounds = torch.searchsorted(ordered.offset, parts.bounds)[1:-1]
        crossing = torch.bucketize(source, bounds, right=True) != torch.bucketize(target, bounds, right=True)
        program = tg.algorithms.BFS(int(ordered.out_degree.argmax()))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.tg"
            tg.stream.write_partitioned(ordered, path, parts=8)
            call = partial(run_streamed, program, path, held(graph, 4))
            taken, visits = milliseconds({"run": call}, repeat)["run"], len(call(trace=True).trace.visits)
        yield [name, method, f"{seconds:.2f}", f"{100 * float(crossing.float().mean()):.0f} %", f"{taken:.1f}", visits]


def run_streamed(program: tg.Program, path: Path, memory: int, **options: Any) -> tg.Run:
    return tg.run(program, tg.open(path, memory=memory), **options)


def held(graph: tg.Graph, share: int) -> int:
    return graph.nbytes // share + 64 * graph.num_vertices


def streamed(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.tg"
        tg.stream.write_partitioned(graph, path, parts=32)
        offset, neighbors = graph.offset.numpy(), Path(folder) / "neighbors.npy"
        np.save(neighbors, graph.neighbors.numpy())
        make = programs(graph)["PageRank"]
        calls: dict[str, Callable[[], Any]] = {"in memory": lambda: tg.run(make(), graph)}
        for share in (2, 4, 8):
            calls[f"1/{share}"] = partial(run_streamed, make(), path, held(graph, share))
        taken = compared(calls, repeat)
        mapped = partial(ranks, offset, np.load(neighbors, mmap_mode="r"), by_numpy, [0, len(offset) - 1])
        by_map = milliseconds({"map": mapped}, repeat)["map"]
        times = [f"{taken[key]:.1f}" for key in calls]
        yield [name, *times, f"{by_map:.1f}", *(f"{taken[key] / taken['in memory']:.2f}" for key in list(calls)[1:])]


def cbm(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    ones = torch.ones(graph.num_arcs)
    matrix = torch.sparse_csr_tensor(graph.offset, graph.neighbors.long(), ones, (graph.num_vertices,) * 2)
    x = torch.rand(graph.num_vertices, 500)
    for alpha in (1, 4, 16):
        seconds, made = timed(graph.to_format, "cbm", alpha=alpha)
        calls = {"MKL": lambda: matrix @ x, "CBM": lambda made=made: tg.aggregate(made, x)}
        torch.testing.assert_close(calls["CBM"](), calls["MKL"](), rtol=1e-3, atol=1e-3)
        taken = milliseconds(calls, repeat)
        size = (8 * graph.num_arcs + 4 * graph.num_vertices) / made.layout.nbytes  # a CSR of float32 and int32
        times = [f"{taken[key]:.2f}" for key in calls]
        yield [name, alpha, f"{size:.2f}", f"{seconds:.2f}", *times, *ratios(taken, "CBM", "MKL")]


def shared(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    sources = torch.randperm(graph.num_vertices, generator=torch.Generator().manual_seed(0))[:8].tolist()
    ten: dict[str, Any] = {"tol": None, "max_iterations": 10}
    makes: dict[str, Callable[[], list[tg.Program]]] = {
        "BFS": lambda: [tg.algorithms.BFS(source) for source in sources],
        "PageRank": lambda: [tg.algorithms.PageRank(damping=0.8 + i / 50, **ten) for i in range(8)],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.tg"
        tg.stream.write_partitioned(graph, path, parts=32)
        for title, make in makes.items():
            read = {}

            def run(how: str, make: Any = make, read: Any = read) -> list[torch.Tensor]:
                opened = tg.open(path, memory=held(graph, 4) + 8 * 24 * graph.num_vertices)
                each = [tg.run(one, opened) for one in make()] if how == "alone" else tg.run_each(make(), opened)
                read[how] = opened.layout.counts.nbytes / graph.nbytes
                return [one.values for one in each]

            for one, other in zip(run("alone"), run("shared"), strict=True):
                assert torch.equal(one, other)
            taken = milliseconds({how: partial(run, how) for how in ("alone", "shared")}, repeat)
            times = [f"{taken[how]:.0f}" for how in taken]
            yield [name, title, *(f"{read[how]:.1f}" for how in taken), *times, *ratios(taken, "shared", "alone")]


def layers(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    for cell in run_layers(problem_of(both_ways(graph)), repeat):
        found = cell["systems"]
        others = [f"{each['ratio']:.2f}" for system, each in found.items() if system != "tgraph"]
        yield [name, cell["what"], cell["way"], f"{found['tgraph']['ms']:.2f}", *others]


def storage(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    graph = both_ways(graph)
    n, m = graph.num_vertices, graph.num_arcs
    yield [name, "CSR", f"{graph.nbytes / m:.2f}", "", "", ""]
    for layout in ("coo", "dcsr", "sell", "elias_fano", "virtual"):
        if row := one_layout(name, graph, layout, repeat):
            times = row.build_seconds, row.pagerank, row.pagerank / row.csr_pagerank
            yield [name, layout, f"{row.nbytes / m:.2f}", *(f"{each:.2f}" for each in times)]
    ends = graph.to_edge_index()
    once = ends[:, ends[0] <= ends[1]]
    edges = Edges(*once, torch.ones(once.shape[1]))
    static = edges.static(n)
    for title, share in (("a store, settled", 0.0), (f"{RUNS:.0%} of it in runs", RUNS)):
        seconds, store = timed(edges.store, n, share)
        calls = {"static": partial(ranked, static), "store": lambda store=store: ranked(store.snapshot())}
        assert torch.equal(calls["static"](), calls["store"]())
        taken = {key: each / ROUNDS for key, each in milliseconds(calls, repeat).items()}
        size = sum(store.info()[f"bytes of {part}"] for part in ("CSR", "runs")) / static.num_arcs
        yield [name, title, f"{size:.2f}", f"{seconds:.2f}", f"{taken['store']:.2f}", *ratios(taken, "static", "store")]


def stores(name: str, graph: tg.Graph, repeat: int) -> Iterator[Row]:
    from tgraph import pyg

    graph, batches = both_ways(graph), 10
    n, x = graph.num_vertices, torch.rand(graph.num_vertices, 64)
    seeds = torch.randperm(n, generator=torch.Generator().manual_seed(0))[: 256 * batches]
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("memory", "disk", "lmdb", "rocksdb"):
            store = tg.stores.open("memory:" if kind == "memory" else f"{kind}:{folder}/{kind}")
            features, loaders, made = tg.stores.FeatureStore(store), {}, []
            features[None, "x", None] = x
            for stays in (False, True):
                edges = tg.stores.GraphStore(store, in_store=stays)
                edges[None, "csc", True, (n, n)] = graph.neighbors, graph.offset.int()
                options = {"input_nodes": seeds, "batch_size": 256}
                seconds, loaders[stays] = timed(pyg.NeighborLoader, (features, edges), [15, 10], **options)
                made.append(f"{1e3 * seconds:.1f}")
            drawn = [(torch.manual_seed(0), list(loader))[1] for loader in loaders.values()]
            assert all(torch.equal(one.n_id, other.n_id) for one, other in zip(*drawn, strict=True))
            calls = {stays: lambda loader=loader: list(loader) for stays, loader in loaders.items()}
            taken = milliseconds(calls, repeat)
            times = [f"{each / len(drawn[0]):.2f}" for each in taken.values()]
            yield [name, kind, *made, *times, f"{taken[True] / taken[False]:.2f}"]


def ratios(taken: dict[str, float], ours: str, *others: str) -> list[str]:
    return [f"{taken[each] / taken[ours]:.2f}" for each in others]


PARTS: dict[str, tuple[Callable[..., Iterator[Row]], list[str]]] = {
    "directions": (directions, ["graph", "program", "auto", "push", "pull", "push / auto", "pull / auto"]),
    "compressed": (compressed, ["graph", "program", "bytes", "built, s", "plain", "virtual", "plain / virtual"]),
    "cuts": (cuts, ["graph", "method", "cut, s", "arcs between parts", "BFS in a quarter", "blocks"]),
    "streamed": (
        streamed,
        ["graph", "in memory", "1/2", "1/4", "1/8", "memory map", "1/2 / in memory", "1/4 / ...", "1/8 / ..."],
    ),
    "shared": (shared, ["graph", "8 programs", "graphs read alone", "shared", "alone", "shared, ms", "alone / shared"]),
    "layers": (layers, ["graph", "layer", "pass", "tgraph", "PyG edge_index / tgraph", "PyG sparse / tgraph"]),
    "storage": (storage, ["graph", "stored", "bytes of an arc", "built, s", "iteration of PageRank", "/ CSR"]),
    "stores": (
        stores,
        ["graph", "store", "edges at first: made", "hop by hop: made", "batch", "batch, hop by hop", "/ at first"],
    ),
    "cbm": (cbm, ["graph", "alpha", "bytes, CSR with values / CBM", "built, s", "MKL", "CBM", "MKL / CBM"]),
}


def main() -> None:
    if sys.argv[1:] and not sys.argv[1].startswith("-"):
        sys.argv.insert(1, "--parts")
    given = parsed(__doc__, graphs=GRAPHS, data=DATA, repeat=5, parts=list(PARTS))
    graphs = list(present(given.graphs, given.data))
    text = []
    for part in given.parts:
        rows, head = PARTS[part]
        lines = [[str(cell) for cell in row] for name, graph in graphs for row in rows(name, graph, given.repeat)]
        text.append(f"## {part}\n\n{table(head, lines)}\n")
        print(text[-1], flush=True)
    save("papers", "\n".join(text), quiet=True)


if __name__ == "__main__":
    main()
