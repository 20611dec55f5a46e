"""A layer of a network that is a shortest path: costs are read from terrain, and distances compared.

The network sees three features of each cell of a map and never the cost of crossing it, only how far some cells are
from a corner. Distances are a layer like any other: their gradient is that of the paths that attain them (compare
Vlastelica et al., "Differentiation of blackbox combinatorial solvers", ICLR 2020). Usage:
python examples/shortest_path_layer.py
"""

import matplotlib.pyplot as plt
import torch

import tgraph as tg

SIDE, ROUNDS = 14, 150


class Distances(torch.nn.Module):
    """Distances from the first cell by costs that a small network reads from the features of cells."""

    def __init__(self, features: int):
        super().__init__()
        self.cost = torch.nn.Sequential(torch.nn.Linear(features, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

    def forward(self, graph: tg.Graph, x: torch.Tensor) -> torch.Tensor:
        cost = torch.nn.functional.softplus(self.cost(x)).squeeze(1)
        entered = graph.to_edge_index()[1]
        return tg.algorithms.sssp(graph.weighted_by(cost[entered]), 0)


def terrain(draw: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Features [n, 3] of the cells of a map, and the distances that they lead to, [n]."""
    x = torch.rand(SIDE * SIDE, 3, generator=draw)
    return x, 0.2 + 2 * x[:, 0] * x[:, 1] + x[:, 2] ** 2


def main() -> None:
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    graph = tg.generators.grid2d(SIDE, SIDE)
    print(graph)
    entered = graph.to_edge_index()[1]
    (x, cost), (new, new_cost) = terrain(draw), terrain(draw)
    wanted, new_wanted = (tg.algorithms.sssp(graph.weighted_by(each[entered]), 0) for each in (cost, new_cost))

    layer = Distances(3)
    optimizer, losses = torch.optim.Adam(layer.parameters(), lr=0.02), []

    def error(features: torch.Tensor, distance: torch.Tensor) -> torch.Tensor:
        return (layer(graph, features) - distance).abs().sum() / distance.sum()

    with torch.no_grad():
        start = error(new, new_wanted).item()
    for _ in range(ROUNDS):
        loss = error(x, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        end = error(new, new_wanted).item()
    print(f"distances on another map are wrong by {start:.0%} before, by {end:.0%} after training")
    assert end < start / 3
    print("checked: costs that were never shown are read from the terrain")

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    axes.plot([100 * loss for loss in losses])
    axes.set(xlabel="step", ylabel="error of the distances, %", ylim=0)
    figure.savefig("shortest_path_layer.png", dpi=120)
    print("picture: shortest_path_layer.png")


if __name__ == "__main__":
    main()
