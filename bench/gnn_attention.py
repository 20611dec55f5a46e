"""Attention layers on the CPU: seconds forward and backward, memory, and how near each pass is to what memory gives.

    python -m bench.gnn_attention [--vertices 200000] [--arcs 4000000] [--heads 4] [--columns 32,64] [--repeat 7]

A power-law graph, whose arcs lead to and from vertices drawn with a probability that falls as 1 / rank^0.7. For each
kind of attention and number of columns the median seconds of: the operator forward, forward and backward; the same
with the linear maps of the layer from 64 columns; and the bytes that the passes gather over the seconds, next to the
bytes per second at which `aggregate` sums rows of the same length over the same arcs, and a plain gather of them. Peak
memory is that beyond the inputs, of forward and backward, in a separate process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.primitives import attention
from tgraph.primitives.attention import Csr

KINDS = ("gat", "gatv2", "dot")
INPUT_COLUMNS, SKEW = 64, 0.7


def power_law(vertices: int, arcs: int, seed: int = 0) -> Csr:
    """The arcs by destination."""
    random = torch.Generator().manual_seed(seed)
    total = (torch.arange(1, vertices + 1, dtype=torch.float64) ** -SKEW).cumsum(0)
    ends = []
    for _ in range(2):
        drawn = torch.searchsorted(total, torch.rand(arcs, generator=random, dtype=torch.float64) * total[-1])
        ends.append(torch.randperm(vertices, generator=random)[drawn.clamp(max=vertices - 1)])
    offset, neighbors, _ = sorting.sort_edges(ends[0], ends[1], vertices)
    return Csr(offset, neighbors, None, vertices)


def operands(kind: str, arcs: Csr, heads: int, columns: int) -> list[Tensor]:
    """What the operator takes, and records gradients for."""
    n = arcs.num_columns
    wide, narrow, vector = (n, heads, columns), (n, heads), (heads, columns)
    shapes = {"gat": (wide, narrow, narrow), "gatv2": (wide, wide, vector), "dot": (wide, wide, wide)}[kind]
    random = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=random).mul_(0.3).requires_grad_() for shape in shapes]


def layer(kind: str, arcs: Csr, heads: int, columns: int) -> tuple[Callable[[], Tensor], list[Tensor]]:
    """The operator after linear maps of INPUT_COLUMNS columns, as the layers have it, and what has gradients."""
    random = torch.Generator().manual_seed(2)
    x = torch.randn((arcs.num_columns, INPUT_COLUMNS), generator=random).requires_grad_()
    maps = [torch.nn.Linear(INPUT_COLUMNS, heads * columns) for _ in range({"gat": 1, "gatv2": 2, "dot": 4}[kind])]
    vectors = [torch.randn((heads, columns), generator=random).requires_grad_() for _ in range(2)]

    def run() -> Tensor:
        sent = [linear(x).view(-1, heads, columns) for linear in maps]
        if kind == "gat":
            return attention.gat(arcs, sent[0], *((sent[0] * vector).sum(-1) for vector in vectors))
        if kind == "gatv2":
            return attention.gatv2(arcs, *sent, vectors[0])
        return attention.dot(arcs, *sent[:3]) + sent[3]

    used = vectors[: {"gat": 2, "gatv2": 1, "dot": 0}[kind]]
    return run, [x, *used, *(parameter for linear in maps for parameter in linear.parameters())]


def seconds(call: Callable[[], object], repeat: int) -> float:
    """The median of some calls, after one untimed."""
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def trained(run: Callable[[], Tensor], leaves: list[Tensor], seed: int = 3) -> Callable[[], object]:
    """Forward and backward."""
    out = run()
    grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(seed))
    return lambda: torch.autograd.grad(run(), leaves, grad)


# The rows gathered for an arc: forward, and by the passes of the backward over targets and over sources.
ROWS_GATHERED = {"gat": (1, 1, 1), "gatv2": (1, 1, 2), "dot": (2, 2, 2)}


def measure(kind: str, arcs: Csr, heads: int, columns: int, repeat: int) -> dict[str, float]:
    """The figures of one kind."""
    given = operands(kind, arcs, heads, columns)
    operator = getattr(attention, kind)
    with torch.no_grad():
        forward = seconds(lambda: operator(arcs, *given), repeat)
    both = seconds(trained(lambda: operator(arcs, *given), given), repeat)
    whole = seconds(trained(*layer(kind, arcs, heads, columns)), repeat)
    row = arcs.num_arcs * heads * columns * 4 / 1e9
    ahead, *behind = ROWS_GATHERED[kind]
    return {
        "forward_s": forward,
        "forward_backward_s": both,
        "layer_s": whole,
        "forward_GB_per_s": ahead * row / forward,
        "backward_GB_per_s": sum(behind) * row / (both - forward),
    }


def limits(arcs: Csr, width: int, repeat: int) -> dict[str, float]:
    """Bytes per second of sums over the arcs and of a gather of as many rows, both of rows of that width."""
    graph = tg.Graph(*arcs.transposed()[:2])
    data = torch.randn(arcs.num_columns, width)
    row = arcs.num_arcs * width * 4 / 1e9
    some = arcs.neighbors[: arcs.num_arcs // 8].long()
    out = torch.empty(len(some), width)
    return {
        "aggregate_GB_per_s": row / seconds(lambda: tg.aggregate(graph, data, "sum"), repeat),
        "gather_GB_per_s": row / 8 / seconds(lambda: torch.index_select(data, 0, some, out=out), repeat),
    }


def peak(kind: str, vertices: int, arcs: int, heads: int, columns: int) -> float:
    """Megabytes of forward and backward beyond inputs and arcs, in this process."""
    graph = power_law(vertices, arcs)
    graph.transposed()
    given = operands(kind, graph, heads, columns)
    grad = torch.ones(vertices, heads, columns)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status("VmRSS")
    getattr(attention, kind)(graph, *given).backward(grad)
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    """A field of /proc/self/status, in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def measured_peak(*arguments: object) -> float:
    """`peak` in a separate process."""
    code = f"from bench.gnn_attention import peak; print(peak(*{arguments!r}))"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--arcs", type=int, default=4_000_000)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--columns", default="32,64")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--memory", action="store_true", help="measure peak memory too, with the arcs and with twice")
    given = parser.parse_args()
    arcs = power_law(given.vertices, given.arcs)
    arcs.transposed()
    for columns in map(int, given.columns.split(",")):
        print(columns, json.dumps(limits(arcs, given.heads * columns, given.repeat)))
        for kind in given.kinds.split(","):
            figures = measure(kind, arcs, given.heads, columns, given.repeat)
            if given.memory:
                sizes = (given.arcs, 2 * given.arcs)
                figures |= {
                    f"peak_MB_{size}_arcs": measured_peak(kind, given.vertices, size, given.heads, columns)
                    for size in sizes
                }
            print(kind, columns, json.dumps({name: round(value, 4) for name, value in figures.items()}), flush=True)


if __name__ == "__main__":
    main()
