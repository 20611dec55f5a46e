"""Aggregations and GNN layers compared with PyG, torch-scatter and torch.sparse in time and memory, with gradients.

    python -m bench.gnn [--parts sums,layers,memory,graphs,batches] [--vertices 200000]
                        [--edges 4000000] [--widths 64,128] [--repeat 5] [--data ../shared/data] [--graphs cora,...]

sums   : sum and max over the in-arcs of a power-law graph, compared with torch's SpMM (int32 indices),
         index_add and torch-scatter; forward alone, and with the backward.
layers : GCNConv, SAGEConv (mean, max), GATConv, GATv2Conv and TransformerConv (4 heads of 32) compared with PyG on
         an edge index and on a sparse adjacency.
memory : the peak of a layer beyond what was there before, forward and backward, each in a process of its
         own; that of TGraph also on twice as many edges: it should grow with the vertices, not the edges.
graphs : the layers on real graphs, compared with PyG.
batches : models on mini-batches; see `bench.gnn_batches`.

Systems take turns, and all results are checked against each other. A system that is not installed is left out. The
bound of a forward aggregation is the time in which the same rows could be gathered, measured in the same run: see
`bench.limits`. Results go to bench/results/gnn.json and .md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from bench import measure
from bench.command import DATA, parsed
from bench.gnn_batches import run_batches
from bench.graphs import GRAPHS, present
from bench.limits import fastest
from bench.machine import describe_machine
from bench.process import launch, peak
from bench.results import named, save, table

PARTS = ("sums", "layers", "memory", "graphs", "batches")
HEADS, CHANNELS = 4, 32
MAY_DIFFER = 1e-3  # the share of a result
ATTENTION = ("GATConv", "GATv2Conv", "TransformerConv")
LAYERS = ("GCNConv", "SAGEConv mean", "SAGEConv max", *ATTENTION)
Step = Callable[[], Tensor]


@dataclass
class Problem:
    """A graph and its features: `edge_index` int64 [2, m] sorted by target, `x` [n, F]."""

    edge_index: Tensor
    x: Tensor

    @property
    def num_vertices(self) -> int:
        return len(self.x)

    def adjacency(self, dtype: torch.dtype = torch.int32) -> Tensor:
        """The transposed adjacency as a sparse matrix with indices of a dtype: row v lists the in-neighbours of v."""
        (src, dst), n = self.edge_index, self.num_vertices
        offset = torch.zeros(n + 1, dtype=dtype)
        offset[1:] = torch.bincount(dst, minlength=n).cumsum(0)
        return torch.sparse_csr_tensor(offset, src.to(dtype), torch.ones(len(src)), (n, n))


def power_law(vertices: int, edges: int, width: int, seed: int = 0) -> Problem:
    """Both ends of an edge fall to vertex i with a probability that falls as (i + 2.5)^-1/2; ids are shuffled. Edges
    are distinct, and none is a self-loop, so that all systems have the same arcs."""
    made = torch.Generator().manual_seed(seed)
    share = (torch.arange(vertices, dtype=torch.float64) + 2.5).rsqrt().cumsum(0)
    ends = torch.searchsorted(share / share[-1], torch.rand(2, edges, generator=made, dtype=torch.float64))
    ends = torch.randperm(vertices, generator=made)[ends.clamp_(max=vertices - 1)]
    arcs = (ends[1] * vertices + ends[0])[ends[0] != ends[1]].unique()
    edge_index = torch.stack((arcs % vertices, arcs // vertices))
    return Problem(edge_index, torch.randn(vertices, width, generator=made))


# ---- systems ------------------------------------------------------------------------------------------------


def sums(problem: Problem) -> dict[str, dict[str, Callable[[Tensor], Tensor]]]:
    """{reduction: {system: function of the features}}."""
    (src, dst), n = problem.edge_index, problem.num_vertices
    graph = tg.Graph.from_edges(src, dst, num_vertices=n)
    matrix = problem.adjacency()
    found: dict[str, dict[str, Callable[[Tensor], Tensor]]] = {
        "sum": {
            "tgraph": lambda x: tg.aggregate(graph, x, "sum"),
            "torch.sparse": lambda x: matrix @ x,
            "index_add": lambda x: torch.zeros_like(x).index_add(0, dst, x.index_select(0, src)),
        },
        "max": {
            "tgraph": lambda x: tg.aggregate(graph, x, "max"),
            "torch.sparse": lambda x: torch.sparse.mm(matrix, x, reduce="amax"),
        },
    }
    try:
        import torch_scatter
    except ImportError:
        return found
    offset = matrix.crow_indices().long()
    for name in found:
        reduce = partial(torch_scatter.segment_csr, indptr=offset, reduce=name)
        found[name]["torch-scatter"] = lambda x, reduce=reduce: reduce(x.index_select(0, src))
    return found


def layers(name: str, problem: Problem) -> dict[str, tuple[torch.nn.Module, Any]]:
    """{system: (a layer with the same parameters everywhere, its arguments besides the features)}."""
    width, graph = problem.x.shape[1], problem.edge_index
    ours = layer(tg.nn, name, width)
    found = {"tgraph": (ours, graph)}
    try:
        from torch_geometric import nn
    except ImportError:
        return found
    for system, adjacency in {"pyg edge_index": graph, "pyg sparse": problem.adjacency(torch.int64)}.items():
        theirs = layer(nn, name, width)
        theirs.load_state_dict(ours.state_dict())
        found[system] = (theirs, adjacency)
    return found


def layer(module: Any, name: str, width: int) -> torch.nn.Module:
    """A layer of either library."""
    kind, _, reduce = name.partition(" ")
    torch.manual_seed(0)
    columns, options = (
        (CHANNELS, {"heads": HEADS}) if kind in ATTENTION else (width, {"aggr": reduce} if reduce else {})
    )
    return getattr(module, kind)(width, columns, **options)


# ---- timing ----------------------------------------------------------------------------------------------------------


def forward(function: Callable[[Tensor], Tensor], x: Tensor) -> Step:
    own = x.clone()  # each system has its own features: TGraph moves them into huge pages

    def step() -> Tensor:
        with torch.no_grad():
            return function(own)

    return step


def both(function: Callable[[Tensor], Tensor], x: Tensor, module: torch.nn.Module | None = None) -> Step:
    """Forward and backward, to the gradients of the features and of all parameters."""
    leaf = x.clone().requires_grad_()
    upstream: list[Tensor] = []

    def step() -> Tensor:
        leaf.grad = None
        if module is not None:
            module.zero_grad()
        result = function(leaf)
        if not upstream:
            drawn = torch.randn(result.shape, generator=torch.Generator().manual_seed(1))
            upstream.append(drawn.to(result.device))
        result.backward(upstream[0])
        return leaf.grad  # type: ignore[return-value]

    return step


def compare(steps: dict[str, Step], repeat: int, ties: bool = False) -> dict[str, Any]:
    """{system: milliseconds, ratio to TGraph}; a result that differs from that of TGraph is an error, except for ties.

    In float32 the sign of a score near 0 depends on the order of a sum, and the gradient of its leaky_relu on the sign:
    a few rows may differ for that.
    """
    wanted = at_rest(steps["tgraph"]()).clone()

    def check(_: int, result: Tensor) -> None:
        if not ties:
            differing = float((~torch.isclose(at_rest(result), wanted, rtol=2e-3, atol=2e-3)).double().mean())
            assert differing <= MAY_DIFFER, f"{differing:.2%} of the result differs from ours"

    contestants = [measure.Called(name, lambda _, step=step: step(), check) for name, step in steps.items()]
    settings = measure.Settings(repeat=1, budget=repeat * 3.0, slow=20.0)
    return measure.against(measure.interleave(contestants, range(repeat), settings))


def at_rest(result: Tensor) -> Tensor:
    """Without gradient, and 0 for the maximum of nothing, as others have it."""
    return torch.nan_to_num(result.detach(), neginf=0.0)


def gather_bound(problem: Problem) -> float:
    """Milliseconds to fetch the row of every arc, by torch's own gather into memory that is there already."""
    src = problem.edge_index[0]
    piece = 1 << 14
    room = torch.empty(piece, problem.x.shape[1])

    def gather() -> None:
        for rows in src.split(piece):
            torch.index_select(problem.x, 0, rows, out=room[: len(rows)])

    return fastest(gather, 3) * 1e3


def run_sums(problem: Problem, repeat: int) -> Iterator[dict[str, Any]]:
    width = problem.x.shape[1]
    for reduction, systems in sums(problem).items():
        for way, make in (("forward", forward), ("both", both)):
            steps = {name: make(function, problem.x) for name, function in systems.items()}
            ties = reduction == "max" and way == "both"
            yield {"what": f"{reduction} {width}", "way": way, "systems": compare(steps, repeat, ties)}


def run_layers(problem: Problem, repeat: int, names: tuple[str, ...] = LAYERS) -> Iterator[dict[str, Any]]:
    width = problem.x.shape[1]
    for name in names:
        made = layers(name, problem)
        for way in ("forward", "both"):
            steps: dict[str, Step] = {}
            for system, (module, graph) in made.items():
                function = lambda x, module=module, graph=graph: module(x, graph)  # noqa: E731
                steps[system] = forward(function, problem.x) if way == "forward" else both(function, problem.x, module)
            ties = way == "both" and name == "SAGEConv max"
            yield {"what": f"{name} {width}", "way": way, "systems": compare(steps, repeat, ties)}


# ---- memory ----------------------------------------------------------------------------------------------------------


def run_memory(vertices: int, edges: int, width: int) -> Iterator[dict[str, Any]]:
    """Peaks of the attention layers, beyond what was there before the call."""
    for name in LAYERS:
        found = {}
        for system, times in (("tgraph", 1), ("tgraph", 2), ("pyg edge_index", 1)):
            command = [sys.executable, "-m", "bench.gnn", "--child", name, system]
            command += [str(vertices), str(edges * times), str(width)]
            key = system if times == 1 else f"{system}, {times} x edges"
            try:
                found[key] = {"MB": float(launch(command, os.cpu_count() or 1)[0][-1]) / 1e6}
            except Exception as fault:
                found[key] = {"error": f"{fault}"[:200]}
        yield {"what": f"{name} {width}", "way": "memory", "systems": found}


def child(name: str, system: str, vertices: int, edges: int, width: int) -> float:
    """Bytes that a layer takes at its peak, forward and backward, beyond those of the graph and a tiny run."""
    tiny, problem = power_law(100, 1000, width), power_law(vertices, edges, width)
    for each in (tiny, problem):
        module, graph = layers(name, each)[system]
        if each is problem and system == "tgraph":
            with torch.no_grad():
                module(each.x, graph)  # what is kept with the graph, as its transpose, is there before
        before = peak()
        both(lambda x, module=module, graph=graph: module(x, graph), each.x, module)()
    return float(peak() - before)


# ---- report ----------------------------------------------------------------------------------------------------------


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    parts = ["# Aggregations and GNN layers", f"{named(results['machine'])}. {results['threads']} threads."]
    for title, cells in results["cells"].items():
        systems = list(dict.fromkeys(system for cell in cells for system in cell["systems"]))
        rows = [[cell["what"], cell["way"], *(shown(cell["systems"].get(each)) for each in systems)] for cell in cells]
        parts += [f"## {title}", table(("what", "way", *systems), rows)]
    return "\n\n".join(parts)


def shown(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    if "error" in found:
        return found["error"][:60]
    if "MB" in found:
        return f"{found['MB']:.0f} MB"
    return f"{found['ms']:.3g} ms" + ("" if found["ratio"] in (None, 1) else f", {found['ratio']:.2f}")


def main() -> None:
    options = parsed(
        __doc__,
        known={"parts": PARTS},
        parts=PARTS, vertices=200_000, edges=4_000_000, widths=[64, 128], repeat=5, data=DATA, graphs=GRAPHS,
    )  # fmt: skip
    results: dict[str, Any] = {"machine": describe_machine(), "threads": torch.get_num_threads(), "cells": {}}
    for title, cells in chosen(options):
        held = results["cells"].setdefault(title, [])
        for cell in cells:
            held.append(cell)
            print(title, cell["what"], cell["way"], {name: shown(each) for name, each in cell["systems"].items()})
            save("gnn", markdown(results), results, quiet=True)


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """The requested parts."""
    whole = {"sums", "layers", "memory"} & set(options.parts)
    name = f"power law, {options.vertices:,} vertices, {options.edges:,} edges"
    for width in options.widths if whole else ():
        problem = power_law(options.vertices, options.edges, width)
        if "sums" in options.parts:
            bound = f"{name}: gathering {width} columns takes {gather_bound(problem):.0f} ms"
            yield bound, run_sums(problem, options.repeat)
        if "layers" in options.parts:
            yield name, run_layers(problem, options.repeat)
        if "memory" in options.parts:
            yield f"{name}: peak memory", run_memory(options.vertices, options.edges, width)
    if "batches" in options.parts:
        yield "mini-batches, one thread, a new edge_index at each step", run_batches()
    if "graphs" in options.parts:
        for each, graph in present(options.graphs, options.data):
            yield each, run_layers(problem_of(graph), options.repeat)


def problem_of(graph: tg.Graph, width: int = 64) -> Problem:
    """The arcs of a graph, and random features."""
    src = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree)
    dst = graph.neighbors.long()
    order = dst.argsort(stable=True)
    edge_index = torch.stack((src, dst))[:, order].contiguous()
    return Problem(edge_index, torch.randn(graph.num_vertices, width, generator=torch.Generator().manual_seed(0)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        name, system, *sizes = sys.argv[2:]
        print(child(name, system, *map(int, sizes)))
    else:
        main()
