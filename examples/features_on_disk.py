"""A graph and features that are larger than the memory: inference of a two-layer GraphSAGE, layer by layer.

Graph and features are files; `tg.stream.aggregate` reads as many columns of the features at a time as the memory holds,
and `tg.stream.apply` puts rows through dense layers. Nothing of size [n, F] is ever in memory (Hamilton, Ying and
Leskovec, NeurIPS 2017, for the network). Usage: python examples/features_on_disk.py [FILE]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import tgraph as tg

FEATURES, HIDDEN, CLASSES = 128, 64, 8


class Layer(torch.nn.Module):
    """A layer on the features of a vertex and the mean of its neighbours'."""

    def __init__(self, wide: int, narrow: int):
        super().__init__()
        self.own, self.mean = torch.nn.Linear(wide, narrow), torch.nn.Linear(wide, narrow, bias=False)

    def forward(self, own: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.own(own) + self.mean(mean))


def from_disk(folder: Path, layers: list[Layer], memory: int) -> tg.stream.FeatureFile:
    """The features in x.npy put through all layers."""
    graph, features = tg.open(folder / "graph.tg", memory), tg.stream.FeatureFile(folder / "x.npy")
    for number, layer in enumerate(layers):
        mean = tg.stream.aggregate(graph, features, folder / "mean.npy", "mean")
        features = tg.stream.apply((features, mean), layer, folder / f"layer{number}.npy", memory=memory)
        print(f"layer {number}: {features.shape[1]} features of {features.shape[0]:,} vertices")
    return features


def main() -> None:
    graph = tg.read(sys.argv[1]) if len(sys.argv) > 1 else tg.generators.rmat(14)
    torch.manual_seed(0)
    values = torch.rand(graph.num_vertices, FEATURES)
    layers = [Layer(FEATURES, HIDDEN), Layer(HIDDEN, CLASSES)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tg.stream.write_partitioned(graph, folder / "graph.tg", 16)
        np.save(folder / "x.npy", values.numpy())
        size = sum(path.stat().st_size for path in folder.iterdir())
        memory = size // 3
        print(f"{graph}\ngraph and features take {size:,} bytes, of which memory may hold {memory:,}")
        from_disk(folder, layers, memory)
        found = torch.from_numpy(np.load(folder / "layer1.npy"))
    with torch.no_grad():
        for layer in layers:
            values = layer(values, tg.aggregate(graph, values, "mean"))
    torch.testing.assert_close(found, values, rtol=1e-4, atol=1e-5)
    print("checked: the same in memory")


if __name__ == "__main__":
    main()
