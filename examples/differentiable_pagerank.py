"""Which edges give a vertex its rank? The gradient of its PageRank by the weights of all edges, through the iterations.

Operators are differentiable in vertex data and in weights, so any program can be trained or explained.
Usage: python examples/differentiable_pagerank.py [FILE]
"""

import sys

import torch

import tgraph as tg

ROUNDS = 30


def rank_of(graph: tg.Graph, weights: torch.Tensor, vertex: int) -> torch.Tensor:
    """The PageRank of one vertex where the edges have these weights: a scalar with a gradient."""
    weighted = tg.Graph(graph.offset, graph.neighbors, weights, graph.vertices)
    ranks = tg.algorithms.pagerank(weighted, weighted=True, tol=None, max_iterations=ROUNDS, dtype=torch.float64)
    return ranks[vertex]


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


if __name__ == "__main__":
    main()
