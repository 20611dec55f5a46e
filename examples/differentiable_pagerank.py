"""Which edges give a vertex its rank? The gradient of its PageRank by the weights of all edges, through the iterations.

Operators are differentiable in vertex data and in weights, so any program can be trained or explained.
Usage: python examples/differentiable_pagerank.py [FILE]
"""

import sys

import matplotlib.pyplot as plt
import torch
from matplotlib.collections import LineCollection

import tgraph as tg

ROUNDS, DRAWN = 30, 200


def rank_of(graph: tg.Graph, weights: torch.Tensor, vertex: int) -> torch.Tensor:
    """The PageRank of one vertex where the edges have these weights: a scalar with a gradient."""
    weighted = tg.Graph(graph.offset, graph.neighbors, weights, graph.vertices)
    ranks = tg.algorithms.pagerank(weighted, weighted=True, tol=None, max_iterations=ROUNDS, dtype=torch.float64)
    return ranks[vertex]


def draw(graph: tg.Graph, gradient: torch.Tensor, vertex: int, path: str) -> None:
    """The edges that matter most: those of positive gradient raise the rank, those of negative gradient lower it."""
    chosen = torch.topk(gradient.abs(), min(DRAWN, graph.num_arcs)).indices.flip(0)  # the strongest above the others
    ends, place = graph.to_edge_index()[:, chosen].unique(return_inverse=True)
    near = tg.Graph.from_edges(*place, num_vertices=len(ends), directed=False, multi="first")
    at = tg.drawing.forceatlas2(near)
    figure, axes = plt.subplots(figsize=(7, 6), layout="constrained")
    strength = (gradient[chosen].abs() / gradient.abs().max()).sqrt() * gradient[chosen].sign()
    lines = LineCollection(at[place.T].numpy(), array=strength, cmap="coolwarm_r", clim=(-1, 1), linewidths=1.5)
    axes.add_collection(lines)
    axes.scatter(*at.T, s=6, color="0.3", zorder=2)
    axes.scatter(*at[ends == vertex].T, s=160, color="black", marker="*", zorder=3)
    axes.set_axis_off()
    figure.colorbar(lines, label="lowers the rank of the star    -    raises it", ticks=[], shrink=0.6)
    figure.savefig(path, dpi=120)


def main() -> None:
    graph = tg.read(sys.argv[1], directed=True) if len(sys.argv) > 1 else tg.generators.rmat(9, directed=True)
    print(graph)
    weights = torch.ones(graph.num_arcs, dtype=torch.float64, requires_grad=True)
    vertex, rank = graph.top(tg.algorithms.pagerank(graph), 1)[0]
    rank_of(graph, weights, graph.index(vertex)).backward()
    print(f"vertex {vertex} has the largest rank, {rank:.4f}")

    print("edges whose weight raises it most (d rank / d weight):")
    strongest = torch.topk(weights.grad, min(5, graph.num_arcs)).indices.tolist()
    for arc in strongest:
        source, target = graph.arc(arc)
        print(f"  {source} -> {target}: {weights.grad[arc]:+.2e}")

    arc, step = strongest[0], 1e-5
    with torch.no_grad():
        change = torch.zeros_like(weights)
        change[arc] = step
        up, down = (rank_of(graph, weights + sign * change, graph.index(vertex)) for sign in (1, -1))
    difference = ((up - down) / (2 * step)).item()
    print(f"finite difference for the first: {difference:+.2e}")
    assert abs(difference - weights.grad[arc].item()) < 1e-6 * abs(difference) + 1e-12
    print("checked: the gradient agrees with the finite difference")
    draw(graph, weights.grad, graph.index(vertex), "differentiable_pagerank.png")
    print("picture: differentiable_pagerank.png")


if __name__ == "__main__":
    main()
