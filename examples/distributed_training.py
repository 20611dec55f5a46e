"""Two processes train one network: DistributedDataParallel over gloo, and a store on the disk that both read.

Each process takes half of the vertices to train on, in batches half as large, and torch averages the gradients (Li et
al., "PyTorch Distributed", VLDB 2020), so that a step sees as many vertices as with one process. The store is opened
by each; what one has read is in the system's page cache for the other. Usage: python examples/distributed_training.py
[--processes 2] [--vertices 4000] [--epochs 5]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import tgraph as tg
from tgraph.pyg import NeighborLoader
from tgraph.stores import DiskStore, FeatureStore, GraphStore

COLUMNS, HIDDEN, CLASSES, BATCH = 16, 32, 5, 128


def make(store: DiskStore, n: int) -> None:
    """Vertices joined mostly to others of their class, with features that tell little of it."""
    sizes = [n // CLASSES] * CLASSES
    chance = torch.full((CLASSES, CLASSES), 2 / n).fill_diagonal_(40 / n)
    graph = tg.generators.stochastic_block_model(sizes, chance.tolist())
    y = torch.arange(CLASSES).repeat_interleave(n // CLASSES)
    features, edges = FeatureStore(store), GraphStore(store)
    features[None, "x", None] = torch.randn(CLASSES, COLUMNS)[y] + 4 * torch.randn(len(y), COLUMNS)
    features[None, "y", None] = y
    edges[None, "csc", True, (len(y), len(y))] = graph.neighbors, graph.offset.int()
    train, test = torch.randperm(len(y)).tensor_split(2)
    store.put("train", train)
    store.put("test", test)


class Sage(torch.nn.Module):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = tg.nn.SAGEConv(COLUMNS, HIDDEN), tg.nn.SAGEConv(HIDDEN, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def train(folder: Path, rank: int, count: int, epochs: int) -> tuple[float, list[float]]:
    """Training in each of so many processes: (share of the vertices to test on that is right, loss of each batch). The
    first one tests the network."""
    dist.init_process_group("gloo", init_method=f"file://{folder / f'meet{count}'}", rank=rank, world_size=count)
    store = DiskStore(folder / "store")
    data = FeatureStore(store), GraphStore(store)
    seeds, test = (store.get_rows(store.stat(key)) for key in ("train", "test"))
    seeds = seeds[: len(seeds) // count * count][rank::count]  # equally many, since every step waits for all
    torch.manual_seed(rank)
    loader = NeighborLoader(data, [10, 10], input_nodes=seeds, batch_size=BATCH // count, shuffle=True)
    model = DistributedDataParallel(Sage())  # which sends the parameters of the first to all
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.01), []
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            scores = model(batch.x, batch.edge_index)[: batch.batch_size]
            loss = F.cross_entropy(scores, batch.y[: batch.batch_size])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    right = 0
    if rank == 0:
        with torch.no_grad():
            for batch in NeighborLoader(data, [10, 10], input_nodes=test, batch_size=BATCH):
                found = model.module(batch.x, batch.edge_index)[: batch.batch_size].argmax(1)
                right += int((found == batch.y[: batch.batch_size]).sum())
    dist.destroy_process_group()
    return right / len(test), losses


def learned(folder: Path, processes: int, options: argparse.Namespace) -> tuple[float, Tensor]:
    """Parameters that so many processes learn, and the loss of each step [steps]; one process is this one."""
    if processes == 1:
        right, losses = train(folder, 0, 1, options.epochs)
        return right, torch.tensor(losses)
    command = [sys.executable, __file__, "--folder", str(folder), "--processes", str(processes)]
    command += ["--epochs", str(options.epochs), "--rank"]
    started = [subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE) for rank in range(processes)]
    shown = [process.communicate()[0] for process in started]
    assert not any(process.returncode for process in started)
    right, losses = zip(*map(json.loads, shown), strict=True)
    return right[0], torch.tensor(losses).mean(0)


def draw(losses: dict[int, Tensor], path: str) -> None:
    """The loss of each step, by the number of processes."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for processes, of_steps in losses.items():
        axes.plot(of_steps, label=f"{processes} process{'es' * (processes > 1)}")
    axes.set(xlabel="step", ylabel="loss on the vertices of a step")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train by several processes.")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--vertices", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank is not None:
        print(json.dumps(train(options.folder, options.rank, options.processes, options.epochs)))
        return
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        make(DiskStore(Path(name) / "store"), options.vertices)
        found, losses = {}, {}
        for count in (1, options.processes):
            found[count], losses[count] = learned(Path(name), count, options)
    for count, right in found.items():
        print(f"{count} process{'es' * (count > 1)}: {100 * right:.1f} % of the vertices to test on are right")
    assert found[1] > 0.5 and abs(found[options.processes] - found[1]) < 0.03
    print("checked: several processes learn as much as one")
    draw(losses, "distributed_training.png")
    print("picture: distributed_training.png")


if __name__ == "__main__":
    main()
