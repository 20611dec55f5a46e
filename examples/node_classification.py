"""The subject of a paper, learned from a few labelled papers and who cites whom: GCN, GAT and GraphSAGE.

FILE is a citation network as .npz: CSR adjacency (indptr, indices), CSR features (feat_indptr, feat_indices, feat_data,
feat_shape), labels, train_idx, val_idx and test_idx. Without one, a network is drawn in which papers mostly cite papers
of their own subject. Models and settings are those of the papers: two layers, 200 epochs, and the accuracy on the test
set where that on the validation set was best.
Usage: python examples/node_classification.py [FILE] [gcn|gat|sage] [RUNS]
"""

import sys
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import tgraph as tg


@dataclass
class Papers:
    """Who cites whom, features [n, words], labels [n], and the papers to learn from, to choose by and to test on."""

    graph: tg.Graph
    features: Tensor
    labels: Tensor
    train: Tensor
    validate: Tensor
    test: Tensor


def read(path: str) -> Papers:
    """The papers in a file."""
    held = {name: torch.from_numpy(array) for name, array in np.load(path).items()}
    words = torch.zeros(held["feat_shape"].tolist())
    paper = torch.arange(len(words)).repeat_interleave(held["feat_indptr"].diff())
    words[paper, held["feat_indices"].long()] = held["feat_data"]  # one number stands for all where all are equal
    graph = tg.Graph.from_csr(held["indptr"].long(), held["indices"].long(), directed=False)
    split = (held[f"{name}_idx"] for name in ("train", "val", "test"))
    return Papers(graph, words / words.sum(1, keepdim=True).clamp(min=1), held["labels"], *split)


def draw(n: int = 400, subjects: int = 5, words: int = 100) -> Papers:
    """Papers that cite four others, most of them of their own subject, and use its words more often."""
    random = torch.Generator().manual_seed(0)
    labels = torch.arange(n) % subjects
    src = torch.arange(n).repeat(4)
    own = torch.randint(0, n // subjects, (4 * n,), generator=random) * subjects + labels[src]
    anyone = torch.randint(0, n, (4 * n,), generator=random)
    dst = torch.where(torch.rand(4 * n, generator=random) < 0.7, own, anyone)
    usual = torch.rand((subjects, words), generator=random) * 0.1
    features = (torch.rand((n, words), generator=random) < usual[labels]).float()
    shuffled = torch.randperm(n, generator=random)
    split = (torch.arange(20 * subjects), shuffled[: n // 4], shuffled[n // 4 :])
    return Papers(tg.Graph.from_edges(src, dst, directed=False, multi="first"), features, labels, *split)


class Network(torch.nn.Module):
    """Two layers of a kind."""

    def __init__(self, kind: str, words: int, subjects: int):
        super().__init__()
        self.dropout, self.activation, self.rate = 0.5, F.relu, 0.01
        if kind == "gat":
            self.dropout, self.activation, self.rate = 0.6, F.elu, 0.005
            self.first = tg.nn.GATConv(words, 8, heads=8, dropout=0.6)
            self.second = tg.nn.GATConv(64, subjects, dropout=0.6)
        elif kind == "sage":
            self.first, self.second = tg.nn.SAGEConv(words, 64), tg.nn.SAGEConv(64, subjects)
        else:
            self.first, self.second = tg.nn.GCNConv(words, 16), tg.nn.GCNConv(16, subjects)

    def forward(self, x: Tensor, graph: tg.Graph) -> Tensor:
        """Scores [n, subjects] from features [n, words]."""
        x = F.dropout(x, self.dropout, self.training)
        x = self.activation(self.first(x, graph))
        return self.second(F.dropout(x, self.dropout, self.training), graph)


def accuracy(papers: Papers, kind: str, seed: int) -> float:
    """The share of the test set that a network gets right after training."""
    torch.manual_seed(seed)
    network = Network(kind, papers.features.shape[1], int(papers.labels.max()) + 1)
    decayed = [
        {"params": network.first.parameters(), "weight_decay": 5e-4},
        {"params": network.second.parameters(), "weight_decay": 5e-4 if kind == "gat" else 0.0},
    ]
    optimizer = torch.optim.Adam(decayed, lr=network.rate)
    best = tested = 0.0
    for _ in range(200):
        network.train()
        optimizer.zero_grad()
        scores = network(papers.features, papers.graph)
        F.cross_entropy(scores[papers.train], papers.labels[papers.train]).backward()
        optimizer.step()
        network.eval()
        with torch.no_grad():
            right = (network(papers.features, papers.graph).argmax(1) == papers.labels).double()
        if (validated := float(right[papers.validate].mean())) > best:
            best, tested = validated, float(right[papers.test].mean())
    return tested


def main() -> None:
    papers = read(sys.argv[1]) if len(sys.argv) > 1 else draw()
    print(papers.graph)
    kinds = [sys.argv[2]] if len(sys.argv) > 2 else ["gcn", "gat", "sage"]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for kind in kinds:
        found = torch.tensor([accuracy(papers, kind, seed) for seed in range(runs)], dtype=torch.float64)
        spread = f" +- {100 * float(found.std()):.1f}" if runs > 1 else ""
        print(f"{kind}: {100 * float(found.mean()):.1f}{spread} % of {len(papers.test)} papers right", flush=True)
        guessed = float(torch.bincount(papers.labels[papers.test]).max()) / len(papers.test)
        assert float(found.mean()) > guessed + 0.1
    print("checked: more papers are right than by guessing the most frequent subject")


if __name__ == "__main__":
    main()
