"""One network, one graph, several processes: a GCN finds the subjects of papers on a citation graph that is spread.

Each process computes for its own papers, and DistributedDataParallel adds up the gradients of the parameters.

FILE is a citation network as .npz, as in node_classification.py; without one, a network is drawn. Run without torchrun,
the example starts the processes itself and compares their accuracy with that of one.
Usage: torchrun --nproc-per-node 2 examples/distributed_gcn.py [FILE] [--epochs 60]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.distributed as dist
import torch.nn.functional as F
from node_classification import draw, read
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import tgraph as tg

HIDDEN = 16


class Network(torch.nn.Module):
    """Two layers."""

    def __init__(self, words: int, subjects: int):
        super().__init__()
        self.first, self.second = tg.nn.GCNConv(words, HIDDEN), tg.nn.GCNConv(HIDDEN, subjects)

    def forward(self, x: Tensor, graph: tg.Graph) -> Tensor:
        return self.second(self.first(x, graph).relu(), graph)


def train(options: argparse.Namespace) -> tuple[float, list[float]]:
    """The share of the test set that is right, and the loss in each epoch; every process of the group calls this."""
    papers = draw() if options.file is None else read(options.file)
    count = papers.graph.num_vertices
    graph = tg.distributed.spread(papers.graph)  # of a file that no process could hold: tg.distributed.open
    own = graph.layout.ownership
    mine = torch.arange(own.first, own.end)  # the papers of this process
    role = torch.zeros(count, dtype=torch.int64).index_fill(0, papers.train, 1).index_fill(0, papers.test, 2)[mine]
    x, label = papers.features.to_dense()[mine], papers.labels[mine]
    learns, tests = role == 1, role == 2

    torch.manual_seed(0)
    model = DistributedDataParallel(Network(x.shape[1], int(papers.labels.max()) + 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    of_all, losses = int(own.sum(learns.sum())), []
    for _ in range(options.epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, graph)[learns], label[learns], reduction="sum")
        (loss * own.num_ranks / of_all).backward()  # the gradients of all ranks are averaged
        optimizer.step()
        losses.append(float(own.sum(loss.detach())) / of_all)
    with torch.no_grad():
        right = (model(x, graph).argmax(1) == label)[tests].sum()
    return float(own.sum(right) / own.sum(tests.sum())), losses


def plot(losses: dict[int, list[float]], path: str) -> None:
    """The loss in each epoch, by the number of ranks."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for (count, of_ranks), style in zip(losses.items(), ({"linewidth": 6, "alpha": 0.4}, {}), strict=True):
        axes.plot(of_ranks, label=f"{count} rank{'s' * (count > 1)}", **style)
    axes.set(xlabel="epoch", ylabel="loss on the papers to learn from")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on a graph that is spread over processes.")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--losses", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "RANK" in os.environ:  # torchrun has started this process
        tg.distributed.init_process_group("gloo")
        share, losses = train(options)
        if dist.get_rank() == 0:
            print(f"{dist.get_world_size()} ranks: {100 * share:.1f} % of the test set are right")
            if options.losses:
                Path(options.losses).write_text(json.dumps([share, losses]))
        dist.destroy_process_group()
        return
    share, losses = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 2):
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
            subprocess.run([*command, *sys.argv, "--losses", f"{folder}/{count}"], check=True)
            share[count], losses[count] = json.loads(Path(folder, str(count)).read_text())
    assert abs(share[1] - share[2]) < 0.01, "rounding explains no such difference"
    print("checked: two ranks learn as much as one")
    plot(losses, "distributed_gcn.png")
    print("picture: distributed_gcn.png")


if __name__ == "__main__":
    main()
