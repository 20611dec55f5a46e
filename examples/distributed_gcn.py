"""A graph convolutional network on a graph that is spread over processes: each computes for its own vertices, and
DistributedDataParallel adds up the gradients of the parameters.

Usage: torchrun --nproc-per-node 2 examples/distributed_gcn.py [--vertices 2000] [--epochs 60] [--folder FOLDER]
Without torchrun it starts the processes itself and compares their accuracy with that of one. FOLDER may hold a data set
of Planetoid as edges.npy [2, m], x.npy [n, columns] and y.npy [n]; otherwise a graph is drawn.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import tgraph as tg

CLASSES, COLUMNS, HIDDEN = 5, 16, 32


def drawn(n: int) -> tuple[tg.Graph, Tensor, Tensor]:
    """Vertices joined mostly to others of their class, with features that tell little of it."""
    random = torch.Generator().manual_seed(0)
    chance = torch.full((CLASSES, CLASSES), 2 / n).fill_diagonal_(40 / n)
    graph = tg.generators.stochastic_block_model([n // CLASSES] * CLASSES, chance.tolist())
    y = torch.arange(CLASSES).repeat_interleave(n // CLASSES)
    centre = torch.randn(CLASSES, COLUMNS, generator=random)
    return graph, centre[y] + 4 * torch.randn(len(y), COLUMNS, generator=random), y


def read(folder: Path) -> tuple[tg.Graph, Tensor, Tensor]:
    """A data set in a folder."""
    edges, x, y = (torch.from_numpy(np.load(folder / f"{name}.npy")) for name in ("edges", "x", "y"))
    return tg.Graph.from_edges(*edges.long(), num_vertices=len(y), directed=False), x.float(), y.long()


class Gcn(torch.nn.Module):
    """Two layers."""

    def __init__(self, columns: int, classes: int):
        super().__init__()
        self.first, self.second = tg.nn.GCNConv(columns, HIDDEN), tg.nn.GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, graph: tg.Graph) -> Tensor:
        return self.second(self.first(x, graph).relu(), graph)


def train(options: argparse.Namespace) -> float:
    """The share of the vertices to test on that is right; every process of the group calls this."""
    torch.manual_seed(0)
    graph, x, y = drawn(options.vertices) if options.folder is None else read(options.folder)
    trains = torch.rand(graph.num_vertices) < 0.5
    model = DistributedDataParallel(Gcn(x.shape[1], int(y.max()) + 1))
    parts = tg.distributed.spread(graph)  # tg.distributed.open, of a graph that no process could hold
    own = parts.layout.ownership
    mine = slice(own.first, own.end) if parts.order is None else parts.order[own.first : own.end]
    x, label, trains, count = x[mine], y[mine], trains[mine], int(trains.sum())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(options.epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, parts)[trains], label[trains], reduction="sum")
        (loss * own.num_ranks / count).backward()  # of which the mean over the processes is taken
        optimizer.step()
    with torch.no_grad():
        right = (model(x, parts).argmax(1) == label)[~trains].sum()
    return int(own.sum(right)) / (graph.num_vertices - count)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on a graph that is spread over processes.")
    parser.add_argument("--vertices", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if "RANK" in os.environ:  # one of torchrun's processes
        dist.init_process_group("gloo")
        share = train(options)
        if dist.get_rank() == 0:
            print(f"{dist.get_world_size()} ranks: {100 * share:.1f} % of the vertices to test on are right")
        dist.destroy_process_group()
        return
    found = []
    for count in (1, 2):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
        shown = subprocess.run([*command, *sys.argv], check=True, stdout=subprocess.PIPE, text=True).stdout
        print(shown, end="")
        found.append(float(re.search(r"ranks: ([\d.]+)", shown)[1]))
    assert abs(found[0] - found[1]) < 2, "two ranks and one differ by more than rounding explains"
    print("checked: two ranks learn as much as one")


if __name__ == "__main__":
    main()
