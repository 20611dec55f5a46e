"""Mini-batches against the whole graph: the accuracy of GraphSAGE trained either way, over several seeds.

A FILE is a network as .npz: CSR adjacency (indptr, indices), CSR features (feat_indptr, feat_indices, feat_data,
feat_shape), labels, and perhaps train_idx, val_idx and test_idx; otherwise 20 vertices of each class are to train on
and 30 to choose by, drawn anew for each seed (Shchur, Mumme, Bojchevski and Guennemann, 2018). Without one, a network
is drawn. The words of a vertex are mapped to 64 columns, on which two layers follow. What counts is the accuracy on the
test set where that on the validation set was best. Usage: python examples/mini_batch.py [FILE ...] [--seeds 10] ...
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

import tgraph as tg
from tgraph.pyg import NeighborLoader

Split = tuple[Tensor, Tensor, Tensor]


def read(path: Path) -> tuple[Data, Split | None]:
    """The network in a file, and the vertices to train, to choose by and to test on where the file has them."""
    with np.load(path) as held:
        rows = np.repeat(np.arange(len(held["indptr"]) - 1), np.diff(held["indptr"]))
        edge_index = to_undirected(torch.from_numpy(np.stack((rows, held["indices"])).astype(np.int64)))
        word = torch.from_numpy(held["feat_indices"]).long()
        of = torch.arange(int(held["feat_shape"][0])).repeat_interleave(torch.from_numpy(held["feat_indptr"]).diff())
        values = torch.from_numpy(held["feat_data"]).float().expand(len(word))  # of length 1 where all are equal
        labels = torch.from_numpy(held["labels"]).long()
        names = ("train_idx", "val_idx", "test_idx")
        split = tuple(torch.from_numpy(held[name]).long() for name in names) if names[0] in held else None
        shape = tuple(held["feat_shape"])
    count = torch.zeros(shape[0]).index_add_(0, of, values)
    values = values / count[of].clamp(min=1)
    x = torch.sparse_coo_tensor(torch.stack((of, word)), values, shape, check_invariants=False).coalesce()
    return Data(edge_index=edge_index, words=x, y=labels, num_nodes=shape[0]), split


def drawn(n: int = 600, classes: int = 5, words: int = 100) -> tuple[Data, None]:
    """Vertices joined to four others, most of them of their own class, which use its words more often."""
    random = torch.Generator().manual_seed(0)
    y, source = torch.arange(n) % classes, torch.arange(n).repeat(4)
    own = torch.randint(0, n // classes, (4 * n,), generator=random) * classes + y[source]
    anyone = torch.randint(0, n, (4 * n,), generator=random)
    target = torch.where(torch.rand(4 * n, generator=random) < 0.7, own, anyone)
    usual = torch.rand((classes, words), generator=random) * 0.1
    x = (torch.rand((n, words), generator=random) < usual[y]).float().to_sparse()
    return Data(edge_index=to_undirected(torch.stack((source, target))), words=x, y=y, num_nodes=n), None


def draw_split(y: Tensor) -> Split:
    """20 vertices of each class to train on, 30 to choose by, and the others to test on."""
    shuffled = torch.randperm(len(y))
    of_class = [shuffled[y[shuffled] == label] for label in range(int(y.max()) + 1)]
    parts = [torch.cat([found[first:last] for found in of_class]) for first, last in ((0, 20), (20, 50), (50, None))]
    return parts[0], parts[1], parts[2]


class Sage(torch.nn.Module):
    """Words to 64 columns, and two layers."""

    def __init__(self, words: int, classes: int):
        super().__init__()
        self.words = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(words, 64)))
        self.first, self.second = tg.nn.SAGEConv(64, 64), tg.nn.SAGEConv(64, classes)

    def forward(self, words: Tensor, edge_index: Tensor) -> Tensor:
        """Scores [n, classes] of words [n, words] (sparse)."""
        x = F.dropout(torch.sparse.mm(words, self.words).relu(), 0.5, self.training)
        x = F.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        return self.second(x, edge_index)


def accuracy(data: Data, split: Split, fanouts: list[int] | None, options: argparse.Namespace) -> tuple[float, Tensor]:
    """The share of the test set that is right after training on batches, or on the whole graph, and that of the
    validation set after each epoch."""
    train, validate, test = split
    model = Sage(data.words.shape[1], int(data.y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    graph, best, tested = Data(edge_index=data.edge_index, num_nodes=data.num_nodes), 0.0, 0.0
    validated = torch.empty(options.epochs)
    loader = fanouts and NeighborLoader(graph, fanouts, input_nodes=train, batch_size=options.batch, shuffle=True)
    for epoch in range(options.epochs):
        model.train()
        for batch in loader or (None,):
            optimizer.zero_grad()
            if batch is None:
                seeds, found = train, model(data.words, data.edge_index)[train]
            else:
                seeds = batch.n_id[: batch.batch_size]
                found = model(data.words.index_select(0, batch.n_id), batch.edge_index)[: batch.batch_size]
            F.cross_entropy(found, data.y[seeds]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(data.words, data.edge_index).argmax(1) == data.y).double()
        validated[epoch] = right[validate].mean()
        if validated[epoch] >= best:
            best, tested = float(validated[epoch]), float(right[test].mean())
    return tested, validated


def draw(curves: dict[str, Tensor], path: str) -> None:
    """The accuracy on the validation set, {network: [2 ways, seeds, epochs]}: the mean, and from worst to best."""
    figure, panels = plt.subplots(1, len(curves), figsize=(6 * len(curves), 4), squeeze=False, layout="constrained")
    for axes, (name, validated) in zip(panels[0], curves.items(), strict=True):
        for way, of_way in zip(("whole graph", "mini-batches"), 100 * validated, strict=True):
            axes.plot(of_way.mean(0), label=way)
            axes.fill_between(range(of_way.shape[1]), of_way.amin(0), of_way.amax(0), alpha=0.2)
        axes.set(title=name, xlabel="epoch", ylabel="% of the validation set right")
        axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on mini-batches and on the whole graph.")
    parser.add_argument("files", nargs="*", type=Path, help="networks as .npz; one is drawn without them")
    parser.add_argument("--seeds", type=int, default=3, help="how often to train each way")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64, help="vertices in a batch")
    parser.add_argument("--fanouts", default="10,10", help="neighbours of each vertex, hop by hop")
    options = parser.parse_args()
    fanouts = [int(count) for count in options.fanouts.split(",")]
    print(f"{'':12}{'whole graph':>16}{'mini-batches':>16}{'difference':>12}   % of the test set right")
    curves = {}
    for path in options.files or [None]:
        data, split = read(path) if path else drawn()
        found, validated = torch.empty(2, options.seeds), torch.empty(2, options.seeds, options.epochs)
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            parts = draw_split(data.y) if split is None else split
            for way, chosen in enumerate((None, fanouts)):
                right, validated[way, seed] = accuracy(data, parts, chosen, options)
                found[way, seed] = 100 * right
        mean, spread = found.mean(1), found.std(1, correction=min(1, options.seeds - 1))
        cells = "".join(f"{mean[way]:>9.1f} +- {spread[way]:>3.1f}" for way in (0, 1))
        name = path.name.split(".")[0] if path else "drawn"
        print(f"{name:12}{cells}{mean[1] - mean[0]:>+12.1f}", flush=True)
        curves[name] = validated
    draw(curves, "mini_batch.png")
    print("picture: mini_batch.png")


if __name__ == "__main__":
    main()
