"""Layouts of an adjacency: what each stores, how long it takes to build, and how fast sums over its arcs are.

    python -m bench.layouts [--parts table,wide,tiles,curve] [--graphs cnr-2000,COLLAB] [--data ../shared/data]
        [--repeat 7] [--device cuda]

table : for each graph and layout the bytes, the time to build, and the times of a float32 sum over all arcs (1 and 32
columns) and of an iteration of PageRank, compared with the plain CSR, interleaved.
wide  : A X with 500 columns, and a GCN of two layers, compared with torch's SpMM (MKL) and the CSR.
tiles : for each graph the density of WSB's tiles, and sums of 64 columns by it on a device, in float32 with and without
TF32 and in bfloat16, compared with the CSR.
curve : edges per second of building, over graphs of growing size, up to --largest arcs.

Every result is checked against the CSR's. Ratios of bytes are to a CSR of 4-byte neighbours and no weights, with
offsets of 8 bytes, as a Graph has them, and of 4. Results go to bench/results/layouts.json and .md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor

import tgraph as tg
from bench.command import DATA, RESULTS, parsed
from bench.graphs import Missing, real
from bench.machine import describe_machine
from bench.measure import in_turns, medians, timed
from bench.results import save
from bench.results import table as markdown_table
from tgraph.formats import LAYOUTS

NAMES = (
    "COLLAB", "imdb-actor", "cnr-2000", "web-NotreDame", "ca-HepPh", "ca-GrQc", "email-Enron", "soc-Epinions1",
    "wiki-Vote", "cit-HepTh", "MIT8", "ego-Facebook", "facebook-Cornell5", "blogcatalog", "CollegeMsg",
    "sx-mathoverflow", "ENZYMES", "IMDBMULTI", "PROTEINS", "planetoid-cora", "planetoid-citeseer", "planetoid-pubmed",
    "amazon-photo", "coauthor-cs", "USA-road-d.NY", "USA-road-BAY", "USA-road-FLA", "USA-road-NW",
)  # fmt: skip
WIDE = ("COLLAB", "imdb-actor")
PARTS = ("table", "wide", "tiles", "curve")
COLUMNS, HIDDEN = 500, 500


Multiply = Callable[[Tensor], Tensor]


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


@dataclass
class Product:
    """A X of `COLUMNS` columns, or a GCN, by one system: milliseconds, and the times of MKL and our CSR over it."""

    graph: str
    task: str
    system: str
    milliseconds: float
    over_mkl: float
    over_csr: float


def main() -> None:
    arguments = parse()
    results: dict[str, object] = {"machine": describe_machine(), "threads": torch.get_num_threads()}
    if "table" in arguments.parts:
        results["table"] = [asdict(row) for row in table(arguments)]
    if "wide" in arguments.parts:
        results["wide"] = [asdict(row) for name in WIDE if name in arguments.graphs for row in wide(name, arguments)]
    if "tiles" in arguments.parts:
        results["tiles"] = [row for name, graph in graphs(arguments) for row in tiles(name, graph, arguments)]
    if "curve" in arguments.parts:
        results["curve"] = list(curve(arguments))
    parts = (f"## {part}\n\n{rows_as_text(results[part])}" for part in PARTS if results.get(part))
    save("layouts", "\n\n".join(["# Layouts", str(results["machine"]), *parts]), results, arguments.output)


def parse() -> argparse.Namespace:
    return parsed(
        __doc__,
        known={"parts": PARTS},
        parts=PARTS, graphs=NAMES, layouts=[name for name in LAYOUTS if name != "csr"], data=DATA, repeat=7,
        largest=100_000_000, device="cpu", output=RESULTS,
    )  # fmt: skip


def graphs(arguments: argparse.Namespace) -> Iterator[tuple[str, tg.Graph]]:
    """The requested graphs of the data folder, without weights."""
    for name in arguments.graphs:
        try:
            graph = real(name, arguments.data)
        except Missing as missing:
            print(f"{name}: {missing}")
            continue
        yield name, tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)


def milliseconds(calls: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """The median of each call, in turn."""
    return {name: 1000 * seconds for name, seconds in medians(in_turns(calls, repeat)).items()}


# ---- table -----------------------------------------------------------------------------------------------------------


def table(arguments: argparse.Namespace) -> Iterator[Row]:
    for name, graph in graphs(arguments):
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


# ---- wide ------------------------------------------------------------------------------------------------------------


def wide(name: str, arguments: argparse.Namespace) -> Iterator[Product]:
    """Products with many columns, and a GCN of two layers, by MKL, our CSR and the compressed layouts."""
    graph = real(name, arguments.data)
    graph = tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)
    held = {layout: graph.to_format(layout) for layout in arguments.layouts if layout in ("virtual", "cbm")}
    random = torch.Generator().manual_seed(0)
    data = torch.rand((graph.num_vertices, COLUMNS), generator=random)
    products: dict[str, Multiply] = {"mkl": matrix(graph, torch.ones(graph.num_arcs)).__matmul__}
    products |= {"csr": partial(tg.aggregate, graph)}
    products |= {layout: partial(tg.aggregate, other) for layout, other in held.items()}
    check(name, {system: product(data) for system, product in products.items()})
    yield from compared(name, "A X", {system: partial(call, data) for system, call in products.items()}, arguments)
    norm = graph.out_degree.clamp(min=1).rsqrt()
    values = norm.repeat_interleave(graph.out_degree) * norm[graph.neighbors]
    products = {"mkl": matrix(graph, values).__matmul__}
    products |= {"csr": partial(tg.aggregate, graph, edge="mul", weights=values)}
    products |= {layout: partial(other.layout.multiply, left=norm, right=norm) for layout, other in held.items()}
    layers = [torch.rand((COLUMNS, HIDDEN), generator=random) / COLUMNS for _ in range(2)]
    networks = {system: partial(gcn, call, layers, data) for system, call in products.items()}
    with torch.inference_mode():
        check(name, {system: network() for system, network in networks.items()})
        yield from compared(name, "GCN", networks, arguments)


def matrix(graph: tg.Graph, values: Tensor) -> Tensor:
    """The adjacency as torch's sparse matrix with 4-byte indices, which MKL multiplies."""
    torch.sparse.check_sparse_tensor_invariants.disable()
    return torch.sparse_csr_tensor(graph.offset.int(), graph.neighbors, values, (graph.num_vertices,) * 2)


def check(graph: str, found: dict[str, Tensor]) -> None:
    for system, result in found.items():
        assert torch.allclose(result, found["mkl"], rtol=1e-3, atol=1e-4), f"{graph}: {system} has another result"


def gcn(product: Multiply, layers: list[Tensor], data: Tensor) -> Tensor:
    """S relu(S X W0) W1 with S = D^-1/2 A D^-1/2, which `product` multiplies by (Kipf and Welling 2017)."""
    return product(torch.relu_(product(data @ layers[0])) @ layers[1])


def compared(
    graph: str, task: str, calls: dict[str, Callable[[], object]], arguments: argparse.Namespace
) -> Iterator[Product]:
    times = milliseconds(calls, max(3, arguments.repeat // 2))
    for system, taken in times.items():
        yield Product(graph, task, system, taken, times["mkl"] / taken, times["csr"] / taken)


# ---- tiles -----------------------------------------------------------------------------------------------------------

TILED = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}


def tiles(name: str, graph: tg.Graph, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """WSB whatever its density."""
    graph = graph.to(arguments.device)
    built, held = timed(graph.to_format, "wsb", min_density=0)
    for kind, dtype in TILED.items():
        if kind == "tf32" and graph.device.type != "cuda":
            continue
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        data = torch.rand((graph.num_vertices, 64), device=graph.device).to(dtype)
        calls = {each: partial(finished, other, data) for each, other in (("csr", graph), ("wsb", held))}
        assert torch.allclose(calls["csr"](), calls["wsb"](), rtol=2e-2, atol=1e-2), f"{name}: wsb has other sums"
        times = milliseconds(calls, arguments.repeat)
        row = {
            "graph": name, "density": held.layout.fill, "bytes over csr": held.nbytes / graph.nbytes,
            "build seconds": built, "data": kind, "csr ms": times["csr"], "wsb ms": times["wsb"],
        }  # fmt: skip
        print(row, flush=True)
        yield row


def finished(graph: tg.Graph, data: Tensor) -> Tensor:
    """The sum over all arcs, synchronised."""
    result = tg.aggregate(graph, data)
    if result.is_cuda:
        torch.cuda.synchronize(result.device)
    return result


# ---- curve -----------------------------------------------------------------------------------------------------------


def curve(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Seconds of building from disjoint unions of one to many copies of a graph."""
    for name, graph in graphs(argparse.Namespace(graphs=["cnr-2000", "COLLAB"], data=arguments.data)):
        for layout in ("virtual", "cbm"):
            copies = 1
            while copies * graph.num_arcs <= arguments.largest:
                several = repeated(graph, copies)
                seconds, held = timed(several.to_format, layout)
                yield {
                    "graph": f"{copies} x {name}", "layout": layout, "arcs": several.num_arcs, "seconds": seconds,
                    "arcs per second": several.num_arcs / seconds, "bytes per arc": held.nbytes / several.num_arcs,
                }  # fmt: skip
                copies *= 2


def repeated(graph: tg.Graph, copies: int) -> tg.Graph:
    """Copies of a graph as one graph."""
    n, m = graph.num_vertices, graph.num_arcs
    starts = torch.arange(copies).repeat_interleave(m)
    offset = torch.cat([graph.offset[:-1] + i * m for i in range(copies)] + [torch.tensor([copies * m])])
    return tg.Graph(offset, (graph.neighbors.repeat(copies) + starts * n).int(), directed=graph.directed)


def rows_as_text(rows: list[dict[str, object]]) -> str:
    def cell(value: object) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    return markdown_table(list(rows[0]), ([cell(value) for value in row.values()] for row in rows))


if __name__ == "__main__":
    main()
