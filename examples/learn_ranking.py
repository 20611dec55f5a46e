"""Which links matter? Weights of links learnt from a ranking: PageRank is made to order pages as a reader does.

For pairs of pages that the reader compared, the rank of the better one should be larger; the gradient goes through the
solution of PageRank, not through its iterations (Backstrom and Leskovec, "Supervised random walks", WSDM 2011).
Usage: python examples/learn_ranking.py
"""

import matplotlib.pyplot as plt
import torch

import tgraph as tg

PAIRS, ROUNDS = 3000, 60


def ranks(graph: tg.Graph, logs: torch.Tensor) -> torch.Tensor:
    """PageRank of all pages, links being followed in proportion to exp of `logs` [m]."""
    return tg.algorithms.pagerank(graph.weighted_by(logs.exp()), weighted=True, tol=1e-8, dtype=torch.float64)


def right(rank: torch.Tensor, better: torch.Tensor, worse: torch.Tensor) -> float:
    """The part of pairs in the order of the reader."""
    return (rank[better] > rank[worse]).double().mean().item()


def main() -> None:
    draw = torch.Generator().manual_seed(0)
    graph = tg.generators.rmat(7, directed=True)
    print(graph)
    true = 2 * torch.randn(graph.num_arcs, dtype=torch.float64, generator=draw)
    wanted = ranks(graph, true)
    pages = graph.in_degree.nonzero().flatten()
    pairs = pages[torch.randint(len(pages), (2, 2 * PAIRS), generator=draw)]
    better, worse = torch.where(wanted[pairs[0]] > wanted[pairs[1]], pairs, pairs.flip(0))
    seen, held_out = slice(0, PAIRS), slice(PAIRS, None)

    logs = torch.zeros_like(true, requires_grad=True)
    optimizer, losses = torch.optim.Adam([logs], lr=0.1), []
    start = right(ranks(graph, logs.detach()), better[held_out], worse[held_out])
    for _ in range(ROUNDS):
        rank = ranks(graph, logs).log()
        loss = torch.nn.functional.softplus(rank[worse[seen]] - rank[better[seen]]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    end = right(ranks(graph, logs.detach()), better[held_out], worse[held_out])
    print(f"pairs not seen in the right order: {start:.0%} by equal links, {end:.0%} by those learnt")
    assert end > start and losses[-1] < losses[0]
    print("checked: the learnt weights order more pairs as the reader does")

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    axes.plot(losses)
    axes.set(xlabel="step", ylabel="loss of the pairs seen", ylim=0)
    figure.savefig("learn_ranking.png", dpi=120)
    print("picture: learn_ranking.png")


if __name__ == "__main__":
    main()
