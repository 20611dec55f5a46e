"""Operations on edges on the CPU, beside the same composed of torch's operators: seconds, and memory at the peak.

    python -m bench.edges [--vertices 200000] [--arcs 2000000] [--heads 4] [--columns 16] [--repeat 5]

The power-law graph of `bench.gnn_attention`, its edges by destination, and in an order of their own. u_op_v of vertex
data [n, heads], "dot" of [n, heads, columns], and the softmax of scores [E, heads]: forward, and forward and backward,
beside torch's indexing (what a user would write), and for the softmax torch_geometric.utils.softmax and torch_scatter
where these are installed. Systems take turns, and results are checked against each other. The memory of "dot" is what
it takes beyond its inputs, in processes of their own.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from bench.gnn_attention import power_law
from bench.memory import launch, peak
from tgraph.primitives.attention import Csr
from tgraph.primitives.edges import edge_softmax, u_op_v

Step = Callable[[], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--arcs", type=int, default=2_000_000)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        step = dot_steps(options)[options.only]
        before = peak()
        step()
        print(peak() - before)
        return
    print(f"{options.vertices} vertices, {options.arcs} edges, {torch.get_num_threads()} threads; milliseconds")
    for order in ("by destination", "in their own order"):
        arcs = graph(options, order)
        for operation in ("add", "mul", "dot"):
            report(f"{operation}, edges {order}", on_ends(arcs, operation, options), options.repeat)
        report(f"softmax, edges {order}", softmaxes(arcs, options.heads), options.repeat)
    for name in ("tgraph", "torch"):
        given = [f"--{key}={value}" for key, value in vars(options).items() if key != "only"]
        command = [sys.executable, "-m", "bench.edges", *given, "--only", name]
        found = launch(command, torch.get_num_threads())[0][-1]
        print(f"dot, memory of {name}: {int(found) / 2**20:.0f} MiB")


def graph(options: Any, order: str) -> Csr:
    """The arcs, with positions of their edges where these are not by destination."""
    arcs = power_law(options.vertices, options.arcs)
    if order == "by destination":
        return arcs
    position = torch.randperm(options.arcs, generator=torch.Generator().manual_seed(3))
    return Csr(arcs.offset, arcs.neighbors, position, arcs.num_columns)


def ends(arcs: Csr) -> tuple[Tensor, Tensor]:
    """(source, target) of each edge, int64."""
    found = arcs.neighbors.long(), arcs.row_of_arc()
    if arcs.permutation is None:
        return found
    source, target = (torch.empty_like(end).index_copy_(0, arcs.permutation, end) for end in found)
    return source, target


def on_ends(arcs: Csr, operation: str, options: Any) -> dict[str, tuple[Step, list[Tensor]]]:
    """What computes u_op_v, and what it is differentiated by."""
    random = torch.Generator().manual_seed(1)
    shape = (arcs.num_columns, options.heads, *((options.columns,) if operation == "dot" else ()))
    u, v = (torch.randn(shape, generator=random).requires_grad_() for _ in range(2))
    source, target = ends(arcs)
    plainly = {
        "add": lambda: u[source] + v[target],
        "mul": lambda: u[source] * v[target],
        "dot": lambda: (u[source] * v[target]).sum(-1),
    }
    return {"tgraph": (lambda: u_op_v(arcs, operation, u, v), [u, v]), "torch": (plainly[operation], [u, v])}


def dot_steps(options: Any) -> dict[str, Callable[[], None]]:
    """The forward "dot" of each system, once."""
    steps = on_ends(graph(options, "by destination"), "dot", options)

    def once(step: Step) -> Callable[[], None]:
        def run() -> None:
            with torch.no_grad():
                step()

        return run

    return {name: once(step) for name, (step, _) in steps.items()}


def softmaxes(arcs: Csr, heads: int) -> dict[str, tuple[Step, list[Tensor]]]:
    """What computes the softmax, and what it is differentiated by."""
    score = torch.randn((arcs.num_arcs, heads), generator=torch.Generator().manual_seed(2)).requires_grad_()
    n, target = arcs.num_rows, ends(arcs)[1]

    def composed() -> Tensor:
        index = target[:, None].expand_as(score)
        best = score.new_full((n, heads), -torch.inf).scatter_reduce(0, index, score.detach(), "amax")
        power = (score - best[target]).exp()
        return power / power.new_zeros((n, heads)).index_add(0, target, power)[target]

    found: dict[str, tuple[Step, list[Tensor]]] = {
        "tgraph": (lambda: edge_softmax(arcs, score), [score]),
        "torch": (composed, [score]),
    }
    for name, module in (("PyG", "torch_geometric.utils"), ("torch_scatter", "torch_scatter.composite")):
        try:
            theirs = import_module(module)
        except ImportError:
            continue
        function = theirs.softmax if name == "PyG" else theirs.scatter_softmax
        arguments = (target, None, n) if name == "PyG" else (target, 0)
        found[name] = (lambda function=function, arguments=arguments: function(score, *arguments), [score])
    return found


def report(title: str, systems: dict[str, tuple[Step, list[Tensor]]], repeat: int) -> None:
    """Print the median milliseconds of each system, forward, and forward and backward."""
    results = {name: step().detach() for name, (step, _) in systems.items()}
    for name, result in results.items():
        torch.testing.assert_close(result, results["tgraph"], rtol=1e-4, atol=1e-4, msg=lambda m, n=name: f"{n}: {m}")
    grad = torch.randn_like(results["tgraph"])
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in systems}
    for _ in range(repeat + 1):
        for name, (step, inputs) in systems.items():
            times[name][0].append(seconds(step, record=False))
            times[name][1].append(seconds(lambda s=step, i=inputs: torch.autograd.grad(s(), i, grad)))
    print(title)
    for name, taken in times.items():
        forward, both = (1000 * statistics.median(each[1:]) for each in taken)
        print(f"  {name:14} forward {forward:8.1f}   forward and backward {both:8.1f}")


def seconds(step: Callable[[], object], record: bool = True) -> float:
    """The seconds of one call."""
    with torch.set_grad_enabled(record):
        begin = time.perf_counter()
        step()
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
