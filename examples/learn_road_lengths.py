"""How long do streets take? Learnt from the routes that drivers chose: the inverse of shortest paths.

A driver takes the shortest path by lengths that nobody wrote down. Each observed route should cost as much as the
shortest path by the lengths that are learnt, and costs more until they are right: the difference has a gradient, the
streets of the route less those of the shortest path (Ratliff, Bagnell and Zinkevich, "Maximum margin planning", ICML
2006). Usage: python examples/learn_road_lengths.py
"""

import matplotlib.pyplot as plt
import torch

import tgraph as tg

SIDE, STARTS, ROUNDS = 12, 24, 150


def routes(graph: tg.Graph, lengths: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """How often the shortest paths from each start to all crossings take each street, [k, m]."""
    lengths = lengths.clone().requires_grad_()
    distance = tg.algorithms.sssp(graph.weighted_by(lengths), starts).sum(0)
    return torch.stack([torch.autograd.grad(each, lengths, retain_graph=True)[0] for each in distance])


def main() -> None:
    draw = torch.Generator().manual_seed(0)
    graph = tg.generators.grid2d(SIDE, SIDE)
    print(graph)
    true = torch.rand(graph.num_arcs, generator=draw) + 0.2
    starts = torch.randperm(graph.num_vertices, generator=draw)[:STARTS]
    taken = routes(graph, true, starts)
    seen = taken.sum(0)

    logs = torch.zeros(graph.num_arcs, requires_grad=True)
    optimizer = torch.optim.Adam([logs], lr=0.03)
    regrets = []
    for _ in range(ROUNDS):
        lengths = logs.exp()
        lengths = lengths / lengths.mean()  # a longer unit changes no route
        shortest = tg.algorithms.sssp(graph.weighted_by(lengths), starts)
        cost = (seen * lengths).sum()
        regret = (cost - shortest.sum()) / shortest.sum().detach()
        optimizer.zero_grad()
        regret.backward()
        optimizer.step()
        regrets.append(regret.item())
    print(f"routes cost {regrets[0]:.1%} more than the shortest at first, {regrets[-1]:.1%} in the end")

    found, flat = (routes(graph, each, starts) for each in (logs.detach().exp(), torch.ones_like(true)))
    before, after = ((each * taken).gt(0).sum() / taken.gt(0).sum() for each in (flat, found))
    print(f"streets of the routes that are found: {before:.0%} by equal lengths, {after:.0%} by those learnt")
    assert after > before and regrets[-1] < regrets[0] / 3
    print("checked: routes by the lengths that are learnt are nearer to those observed")

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    axes.plot([100 * regret for regret in regrets])
    axes.set(xlabel="step", ylabel="observed routes longer than the shortest, %", ylim=0)
    figure.savefig("learn_road_lengths.png", dpi=120)
    print("picture: learn_road_lengths.png")


if __name__ == "__main__":
    main()
