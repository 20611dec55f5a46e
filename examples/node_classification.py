"""Which subject has a paper? GCN, GAT and GraphSAGE learn it from a few labelled papers and the citations.

FILE is a citation network as .npz: CSR adjacency (indptr, indices), CSR features (feat_indptr, feat_indices, feat_data,
feat_shape), labels, train_idx, val_idx and test_idx. Without one, a network is drawn in which papers mostly cite papers
of their own subject.

Models and settings are those of the papers; GraphSAGE is trained as GCN is. Training ends when neither the accuracy nor
the loss on the validation set has improved for 100 epochs. What counts is the accuracy on the test set where that on
the validation set was best. On PubMed, GAT has --output-heads 8 --rate 0.01 --decay 0.001.
Usage: python examples/node_classification.py [FILE] [--model gcn] [--seeds 10] [--epochs 200] ...
"""

import argparse
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import tgraph as tg

PATIENCE = 100  # epochs


@dataclass
class Papers:
    """Citations, features [n, words] (sparse), labels [n], and the papers to learn from, choose by and test on."""

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
    words[paper, held["feat_indices"].long()] = held["feat_data"]  # of length 1 where all are equal
    words /= words.sum(1, keepdim=True).clamp(min=1)
    graph = tg.Graph.from_csr(held["indptr"].long(), held["indices"].long(), directed=False)
    split = (held[f"{name}_idx"] for name in ("train", "val", "test"))
    return Papers(graph, words.to_sparse(), held["labels"], *split)


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
    return Papers(tg.Graph.from_edges(src, dst, directed=False, multi="first"), features.to_sparse(), labels, *split)


class Network(torch.nn.Module):
    """Two layers of a kind, and their optimizer."""

    def __init__(self, kind: str, words: int, subjects: int, options: argparse.Namespace):
        super().__init__()
        self.dropout, self.activation, rate, decays = 0.5, F.relu, 0.01, False
        if kind == "gat":
            self.dropout, self.activation, rate, decays = 0.6, F.elu, 0.005, True
            self.first = tg.nn.GATConv(words, 8, heads=8, dropout=0.6)
            self.second = tg.nn.GATConv(64, subjects, heads=options.output_heads, concat=False, dropout=0.6)
        elif kind == "sage":
            self.first, self.second = tg.nn.SAGEConv(words, 64), tg.nn.SAGEConv(64, subjects)
        else:
            self.first, self.second = tg.nn.GCNConv(words, 16), tg.nn.GCNConv(16, subjects)
        decayed = [
            {"params": self.first.parameters(), "weight_decay": options.decay},
            {"params": self.second.parameters(), "weight_decay": options.decay if decays else 0.0},
        ]
        self.optimizer = torch.optim.Adam(decayed, lr=options.rate or rate)

    def forward(self, x: Tensor, graph: tg.Graph) -> Tensor:
        """Scores [n, subjects] from features [n, words]. Dropping out a word that a paper has not changes nothing."""
        words = F.dropout(x.values(), self.dropout, self.training)
        x = torch.sparse_coo_tensor(x.indices(), words, x.shape, check_invariants=False, is_coalesced=True)
        x = self.activation(self.first(x.to_dense(), graph))
        return self.second(F.dropout(x, self.dropout, self.training), graph)


def train(network: Network, papers: Papers) -> None:
    """One step of the optimizer."""
    network.train()
    network.optimizer.zero_grad()
    scores = network(papers.features, papers.graph)[papers.train]
    F.cross_entropy(scores, papers.labels[papers.train]).backward()
    network.optimizer.step()


@torch.no_grad()
def evaluate(network: Network, papers: Papers) -> tuple[float, float, Tensor]:
    """Accuracy on the validation set, the loss there, and the subject that each paper gets [n]."""
    network.eval()
    scores, labels = network(papers.features, papers.graph), papers.labels
    found = scores.argmax(1)
    loss = F.cross_entropy(scores[papers.validate], labels[papers.validate])
    return share_right(found, papers, papers.validate), float(loss), found


def share_right(found: Tensor, papers: Papers, chosen: Tensor) -> float:
    return float((found == papers.labels)[chosen].double().mean())


def trained(papers: Papers, kind: str, seed: int, options: argparse.Namespace) -> tuple[float, Tensor]:
    """The share of the test set that a network gets right after training, and the subject that each paper gets [n]."""
    torch.manual_seed(seed)
    network = Network(kind, papers.features.shape[1], int(papers.labels.max()) + 1, options)
    best, lowest, waited, kept = (0.0, 0.0), float("inf"), 0, torch.zeros_like(papers.labels)
    for _ in range(options.epochs or (1000 if kind == "gat" else 200)):
        train(network, papers)
        right, loss, found = evaluate(network, papers)
        waited = 0 if right > best[0] or loss < lowest else waited + 1
        lowest = min(lowest, loss)
        if (right, -loss) > best:
            best, kept = (right, -loss), found
        if waited == PATIENCE:
            break
    return share_right(kept, papers, papers.test), kept


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn the subjects of papers.")
    parser.add_argument("file", nargs="?", help="a citation network as .npz; one is drawn without it")
    parser.add_argument("--model", nargs="+", choices=("gcn", "gat", "sage"), default=["gcn", "gat", "sage"])
    parser.add_argument("--seeds", type=int, default=1, help="how often to train each model")
    parser.add_argument("--epochs", type=int, help="at most; 200, and 1000 for GAT")
    parser.add_argument("--rate", type=float, help="of learning; 0.01, and 0.005 for GAT")
    parser.add_argument("--decay", type=float, default=5e-4, help="of weights")
    parser.add_argument("--output-heads", type=int, default=1, help="of GAT's second layer")
    options = parser.parse_args()
    papers = read(options.file) if options.file else draw()
    print(papers.graph)
    for kind in options.model:
        rights, subjects = zip(*(trained(papers, kind, seed, options) for seed in range(options.seeds)), strict=True)
        found = torch.tensor(rights).double()
        spread = f" +- {100 * float(found.std()):.1f}" if options.seeds > 1 else ""
        print(f"{kind}: {100 * float(found.mean()):.1f}{spread} % of {len(papers.test)} papers right", flush=True)
        guessed = float(torch.bincount(papers.labels[papers.test]).max()) / len(papers.test)
        assert float(found.mean()) > guessed + 0.1
    print("checked: more papers are right than by guessing the most frequent subject")
    component = tg.algorithms.wcc(papers.graph)
    largest = component == component.mode().values
    tg.draw(papers.graph.subgraph(largest), "node_classification.png", color=subjects[0][largest], inches=6)
    print("picture: node_classification.png, the papers in the colours of the subjects that were found last")


if __name__ == "__main__":
    main()
