"""GNN aggregations and layers beside torch.sparse, gather and scatter, and PyTorch Geometric, on a power-law graph.

    python -m bench.gnn [--vertices N] [--arcs M] [--rounds K] [--threads T] [CASE ...]

A round is one forward pass and one forward and backward pass of every system in turn, after an untimed one of each;
medians over the rounds are reported, and how many bytes beyond its inputs and parameters a system took at most, in a
process of its own. What the systems compute is compared. PyTorch Geometric takes part where it is installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.nn.aggregation import aggregate
from tgraph.nn.edge_index import adjacency_of

AGGREGATIONS = {f"{reduce} {width}": (reduce, width) for width in (64, 128) for reduce in ("sum", "max")}
LAYERS = {
    "GCNConv 64": ("GCNConv", (64, 64), {}),
    "SAGEConv max 64": ("SAGEConv", (64, 64), {"aggr": "max"}),
    "GATConv 4 x 32": ("GATConv", (128, 32), {"heads": 4}),
    "GATv2Conv 4 x 32": ("GATv2Conv", (128, 32), {"heads": 4}),
    "GATv2Conv 4 x 64": ("GATv2Conv", (256, 64), {"heads": 4}),
    "TransformerConv 4 x 32": ("TransformerConv", (128, 32), {"heads": 4}),
    "TransformerConv 4 x 64": ("TransformerConv", (256, 64), {"heads": 4}),
}
CASES = (*AGGREGATIONS, *LAYERS)


@dataclass
class Edges:
    """The same edges in the forms that systems take."""

    edge_index: Tensor
    num_vertices: int

    @classmethod
    def draw(cls, num_vertices: int, num_arcs: int) -> Edges:
        """Ends whose frequency falls as a power of their rank, in a random order of the vertices."""
        random = torch.Generator().manual_seed(0)
        rank = (torch.rand((2, num_arcs), generator=random) ** 3 * num_vertices).long()
        return cls(torch.randperm(num_vertices, generator=random)[rank], num_vertices)

    def matrix(self) -> Tensor:
        """adj_t as torch.sparse CSR, parallel edges as one of weight 1."""
        size = (self.num_vertices, self.num_vertices)
        ones = torch.ones(self.edge_index.shape[1])
        coo = torch.sparse_coo_tensor(self.edge_index.flip(0), ones, size, check_invariants=False).coalesce()
        csr = coo.to_sparse_csr()
        csr.values().fill_(1)
        return csr

    def distinct(self) -> Edges:
        """Each edge once and no self-loops, so that all systems have the same arcs."""
        source, target = self.edge_index[:, self.edge_index[0] != self.edge_index[1]]
        code = (target * self.num_vertices + source).unique()
        return Edges(torch.stack((code % self.num_vertices, code // self.num_vertices)), self.num_vertices)


def aggregations(edges: Edges, reduce: str) -> dict[str, Callable[[Tensor], Tensor]]:
    """The systems that aggregate, {name: function of x}."""
    n, matrix = edges.num_vertices, edges.matrix()
    source, target = edges.edge_index
    scatter = {"sum": "sum", "max": "amax"}[reduce]

    def scattered(x: Tensor) -> Tensor:
        sent = x.index_select(0, source)
        index = target[:, None].expand_as(sent)
        return x.new_zeros((n, x.shape[1])).scatter_reduce(0, index, sent, scatter, include_self=False)

    return {
        "tgraph": lambda x: aggregate(adjacency_of(edges.edge_index, (n, n)), x, reduce),
        "torch.sparse": lambda x: torch.sparse.mm(matrix, x, scatter),
        "gather and scatter": scattered,
    }


def layers(edges: Edges, name: str, widths: tuple[int, int], options: dict[str, Any]) -> dict[str, Any]:
    """The systems that have the layer, {name: function of x}, of the same parameters."""
    ours = getattr(tg.nn, name)(*widths, **options)
    systems: dict[str, Any] = {"tgraph": lambda x: ours(x, edges.edge_index)}
    try:
        from torch_geometric import nn as pyg
    except ImportError:
        return systems
    theirs = getattr(pyg, name)(*widths, **options)
    theirs.load_state_dict(ours.state_dict())
    matrix = edges.matrix()
    return systems | {
        "PyG, edge_index": lambda x: theirs(x, edges.edge_index),
        "PyG, adj_t": lambda x: theirs(x, matrix),
    }


def systems_of(case: str, edges: Edges) -> tuple[dict[str, Any], int]:
    """({name: function of x}, columns of x)."""
    torch.manual_seed(0)
    if case in AGGREGATIONS:
        reduce, width = AGGREGATIONS[case]
        return aggregations(edges, reduce), width
    name, widths, options = LAYERS[case]
    return layers(edges, name, widths, options), widths[0]


def trained(run: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """A forward and a backward pass."""
    x.grad = None
    run(x).sum().backward()


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(case: str, edges: Edges, rounds: int) -> dict[str, dict[str, float]]:
    """{system: {"forward", "step"}} in milliseconds. Raises RuntimeError where the systems disagree."""
    systems, width = systems_of(case, edges)
    x = torch.randn(edges.num_vertices, width, generator=torch.Generator().manual_seed(1)).requires_grad_()
    expected = systems["tgraph"](x).detach()
    found: dict[str, dict[str, list[float]]] = {name: {"forward": [], "step": []} for name in systems}
    for name, run in systems.items():
        if not torch.allclose(run(x).detach(), expected, rtol=1e-3, atol=1e-3):
            raise RuntimeError(f"{case}: {name} computes something else")
        trained(run, x)
    for _ in range(rounds):
        for name, run in systems.items():
            with torch.no_grad():
                found[name]["forward"].append(seconds(lambda run=run: run(x)))
            found[name]["step"].append(seconds(lambda run=run: trained(run, x)))
    return {name: {of: 1000 * statistics.median(all_) for of, all_ in times.items()} for name, times in found.items()}


def peak() -> int:
    """Bytes that this process has held at most since `forget_peak`."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def extra_memory(case: str, system: str, edges: Edges) -> int:
    """Bytes that a training step takes beyond what was there after the first forward pass. Linux only."""
    systems, width = systems_of(case, edges)
    x = torch.randn(edges.num_vertices, width).requires_grad_()
    with torch.no_grad():
        systems[system](x[:, :width])
    forget_peak()
    before = peak()
    trained(systems[system], x)
    return peak() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--arcs", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    edges = Edges.draw(given.vertices, given.arcs).distinct()
    if given.memory_of:
        print(json.dumps(extra_memory(given.cases[0], given.memory_of, edges)))
        return
    print(f"{edges.num_vertices:,} vertices, {edges.edge_index.shape[1]:,} arcs, {given.threads} threads\n")
    print("| case | system | forward, ms | forward and backward, ms | peak, MB |\n|---|---|---|---|---|")
    sizes = ["--vertices", given.vertices, "--arcs", given.arcs, "--threads", given.threads]
    for case in given.cases or CASES:
        for system, times in measure(case, edges, given.rounds).items():
            command = [sys.executable, "-m", "bench.gnn", case, "--memory-of", system, *map(str, sizes)]
            done = subprocess.run(command, capture_output=True, text=True)
            taken = f"{json.loads(done.stdout) / 1e6:.0f}" if not done.returncode else "failed"
            print(f"| {case} | {system} | {times['forward']:.0f} | {times['step']:.0f} | {taken} |", flush=True)


if __name__ == "__main__":
    main()
