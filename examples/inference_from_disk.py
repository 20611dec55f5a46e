"""Inference from the disk: a network that was trained on sampled batches is evaluated on the whole graph.

It goes layer by layer, so that a vertex is computed once for each layer and not for each neighbour of a neighbour.

Features, edges and what each layer computes are tensors in files (`tgraph.stores`); in memory are the rows of one batch
and all of its neighbours (Hamilton, Ying and Leskovec, NeurIPS 2017, for the network). Where the features of a hub's
neighbours do not fit, `features_on_disk.py` streams them instead. Usage: python examples/inference_from_disk.py [FILE]
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor

import tgraph as tg
from tgraph.pyg import NeighborLoader
from tgraph.stores import DiskStore, FeatureStore, GraphStore

COLUMNS, HIDDEN, CLASSES, BATCH = 32, 32, 4, 512


class Sage(torch.nn.Module):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList((tg.nn.SAGEConv(COLUMNS, HIDDEN), tg.nn.SAGEConv(HIDDEN, CLASSES)))

    def forward(self, x: Tensor, edge_index: Tensor | tg.Graph) -> Tensor:
        return self.layers[1](self.layers[0](x, edge_index).relu(), edge_index)


def train(model: Sage, features: FeatureStore, edges: GraphStore) -> None:
    """Learn the classes, on batches."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    vertices = torch.arange(len(features[None, "y", None]))
    for batch in NeighborLoader((features, edges), [10, 10], input_nodes=vertices, batch_size=BATCH, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(model(batch.x, batch.edge_index)[: batch.batch_size], batch.y[: batch.batch_size]).backward()
        optimizer.step()


@torch.no_grad()
def infer(model: Sage, features: FeatureStore, edges: GraphStore, folder: Path) -> None:
    """Put the output [n, columns] of each layer into the features, as "layer0" and so on."""
    name, n = "x", len(features[None, "y", None])
    for number, layer in enumerate(model.layers):
        columns = layer.out_channels
        found = torch.from_file(str(folder / f"layer{number}"), shared=True, size=n * columns).view(n, columns)
        for batch in NeighborLoader((features, edges), [-1], input_nodes=torch.arange(n), batch_size=BATCH):
            out = layer((batch[name], batch[name][: batch.batch_size]), batch.edge_index)
            found[batch.n_id[: batch.batch_size]] = out if number + 1 == len(model.layers) else out.relu()
        name = f"layer{number}"
        features[None, name, None] = found
        print(f"layer {number}: {columns} columns of {n:,} vertices")


def draw(scores: Tensor, y: Tensor, path: str) -> None:
    """Each vertex between the corners of the classes, nearer to those that the network finds likelier, in the colour of
    its own."""
    angle = 2 * torch.pi * torch.arange(CLASSES) / CLASSES
    corners = torch.stack((angle.cos(), angle.sin()), 1)
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.scatter(*(scores.softmax(1) @ corners).T, c=y, s=4, cmap="tab10", vmax=9)
    for label, (x, up) in enumerate(corners.tolist()):
        axes.annotate(f"class {label}", (1.08 * x, 1.08 * up), ha="center", va="center", color=f"C{label}")
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.15, 1.15), aspect="equal")
    axes.set_axis_off()
    figure.savefig(path, dpi=120)


def main() -> None:
    graph = tg.read(sys.argv[1], directed=False) if len(sys.argv) > 1 else tg.generators.rmat(12)
    torch.manual_seed(0)
    x = torch.randn(graph.num_vertices, COLUMNS)
    y = (x @ torch.randn(COLUMNS, CLASSES) + tg.aggregate(graph, x, "mean") @ torch.randn(COLUMNS, CLASSES)).argmax(1)
    model = Sage()
    with tempfile.TemporaryDirectory() as name:
        store = DiskStore(Path(name) / "store")
        features, edges = FeatureStore(store), GraphStore(store)
        features[None, "x", None], features[None, "y", None] = x, y
        edges[None, "csc", True, (len(x), len(x))] = graph.neighbors, graph.offset.int()
        print(f"{graph}, in {', '.join(store.keys())}")
        train(model, features, edges)
        infer(model.eval(), features, edges, Path(name))
        found = features[None, "layer1", None]
    print(f"{100 * float((found.argmax(1) == y).double().mean()):.1f} % of the vertices are in the right class")
    with torch.no_grad():
        torch.testing.assert_close(found, model(x, graph), rtol=1e-4, atol=1e-5)
    print("checked: the same in memory")
    draw(found, y, "inference_from_disk.png")
    print("picture: inference_from_disk.png")


if __name__ == "__main__":
    main()
