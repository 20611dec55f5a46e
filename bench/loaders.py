"""Training on sampled batches: steps of a model on one batch, and whole epochs of sample, collate, forward, backward.

    python -m bench.loaders [--scale 18] [--fanouts 15,10] [--batch 1024] [--features 100] [--threads 2,1]

R-MAT; models of two layers, 64 columns wide. In the first part both libraries compute on the same batch, as a tensor
for which nothing is cached; their results and gradients are compared first, and that nothing of the batch is sorted. In
the second, loops over batches take turns: ours, with and without threads that prepare batches ahead, and PyTorch
Geometric's NodeLoader over our sampler with its layers, beside its NeighborLoader where pyg-lib or torch-sparse is
installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader as TheirLoader
from torch_geometric.loader import NodeLoader

import tgraph as tg
from bench.analytics import integers
from bench.machine import describe_machine
from bench.verify import require
from tgraph.nn.edge_index import adjacency_of
from tgraph.pyg import NeighborLoader, NeighborSampler

LAYERS = ("SAGE", "GCN", "GAT")
COLUMNS, HEADS = 64, 4
Run = Callable[[], Any]


class TwoLayers(Module):
    """Two layers of one kind and of either library, with a ReLU between."""

    def __init__(self, module: Any, name: str, features: int) -> None:
        super().__init__()
        layer = getattr(module, f"{name}Conv")
        options = {"heads": HEADS} if name == "GAT" else {}
        width = COLUMNS // options.get("heads", 1)
        self.first, self.second = layer(features, width, **options), layer(COLUMNS, width, **options)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def models(name: str, features: int) -> tuple[Module, Module]:
    """Ours and theirs, with the same parameters."""
    torch.manual_seed(0)
    ours, theirs = TwoLayers(tg.nn, name, features), TwoLayers(torch_geometric.nn, name, features)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def step(model: Module, x: Tensor, edge_index: Tensor, seeds: int) -> Tensor:
    """The loss of the seeds, and the gradients of the parameters."""
    model.zero_grad()
    loss = model(x, edge_index)[:seeds].square().mean()
    loss.backward()
    return loss


def medians(runs: dict[str, Run], turns: int) -> dict[str, float]:
    """Seconds of each, in turn; the first is not counted."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(turns + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:
                found[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def on_a_batch(batch: Data, name: str) -> dict[str, float]:
    """Seconds of forward and backward on the same batch."""
    x, edge_index, seeds = batch.x, batch.edge_index, batch.batch_size
    require(adjacency_of(edge_index.clone(), (len(x), len(x))).position is None, "the batch is not in order")
    ours, theirs = models(name, x.shape[1])
    losses = [step(model, x, edge_index.clone(), seeds) for model in (ours, theirs)]
    torch.testing.assert_close(*losses, rtol=1e-3, atol=1e-4)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=5e-3, atol=1e-3)
    runs = {"tgraph": ours, "PyTorch Geometric": theirs}
    return medians(
        {key: (lambda model=model: step(model, x, edge_index.clone(), seeds)) for key, model in runs.items()}, 9
    )


def loops(data: Data, name: str, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of a batch in loops over the same seeds."""
    ours, theirs = models(name, data.num_features)
    seeds = torch.randperm(int(data.num_nodes), generator=torch.Generator().manual_seed(1))
    chosen: dict[str, Any] = {"batch_size": options.batch, "input_nodes": seeds[: options.batch * options.batches]}
    sampler = NeighborSampler(data, options.fanouts)
    mine = {
        count: NeighborLoader(data, options.fanouts, neighbor_sampler=sampler, prefetch=count, **chosen)
        for count in (2, 0)
    }
    systems: dict[str, tuple[Any, Module]] = {
        "tgraph": (mine[2], ours),
        "tgraph, prefetch=0": (mine[0], ours),
        "PyTorch Geometric's NodeLoader and layers, our sampler": (NodeLoader(data, sampler, **chosen), theirs),
    }
    if importlib.util.find_spec("pyg_lib") or importlib.util.find_spec("torch_sparse"):
        systems["PyTorch Geometric"] = TheirLoader(data, options.fanouts, **chosen), theirs

    def run(loader: Any, model: Module) -> None:
        for batch in loader:
            step(model, batch.x, batch.edge_index, batch.batch_size)

    runs = {key: (lambda pair=pair: run(*pair)) for key, pair in systems.items()}
    return {key: seconds / options.batches for key, seconds in medians(runs, 3).items()}


def made(options: argparse.Namespace) -> Data:
    graph = tg.generators.rmat(options.scale, 16)
    edge_index = torch.stack(
        (graph.neighbors.long(), torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree))
    )
    return Data(x=torch.rand(graph.num_vertices, options.features), edge_index=edge_index)


def rows(data: Data, options: argparse.Namespace) -> Iterator[str]:
    """The lines of a table."""
    batch = next(iter(NeighborLoader(data, options.fanouts, batch_size=options.batch, shuffle=True)))
    yield f"A batch of {batch.num_nodes:,} vertices and {batch.num_edges:,} arcs, {options.features} features."
    yield "\n| threads | what | layer | system | ms a batch | times ours |\n|---|---|---|---|---|---|"
    for threads in options.threads:
        torch.set_num_threads(threads)
        for name in LAYERS:
            for what, times in (("step", on_a_batch(batch, name)), ("loop", loops(data, name, options))):
                for system, seconds in times.items():
                    ratio = seconds / times["tgraph"]
                    yield f"| {threads} | {what} | {name} | {system} | {seconds * 1e3:.1f} | {ratio:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--fanouts", type=integers, default=[15, 10])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--threads", type=integers, default=[2, 1])
    parser.add_argument("--output", type=Path, default=Path("bench/results/loaders.md"))
    options = parser.parse_args()
    lines = [f"R-MAT-{options.scale}, fan-outs {options.fanouts}; {describe_machine()['processor']}"]
    print(lines[0])
    for line in rows(made(options), options):
        print(line, flush=True)
        lines.append(line)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
