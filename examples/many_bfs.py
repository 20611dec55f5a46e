"""64 searches at once: vertex data [n, 64], one pass over the edges for all of them.

From the depths follows an estimate of every vertex's closeness centrality (Eppstein and Wang, J. Graph Algorithms
Appl. 2004): the mean distance to a random sample of vertices. Usage: python examples/many_bfs.py [FILE]
"""

import sys
import time

import torch

import tgraph as tg

SEARCHES = 64


def main() -> None:
    graph = tg.read(sys.argv[1], directed=False) if len(sys.argv) > 1 else tg.generators.rmat(12)
    print(graph)
    connected = (graph.out_degree > 0).nonzero().flatten()
    chosen = torch.randperm(len(connected), generator=torch.Generator().manual_seed(0))[:SEARCHES]
    sources = connected[chosen]

    start = time.perf_counter()
    depth = tg.algorithms.bfs(graph, sources)
    together = time.perf_counter() - start
    print(f"{len(sources)} searches at once: {together:.3f} s, depths {list(depth.shape)}")

    start = time.perf_counter()
    one_by_one = torch.stack([tg.algorithms.bfs(graph, source) for source in sources], 1)
    print(f"one after the other: {time.perf_counter() - start:.3f} s")
    assert torch.equal(depth, one_by_one)
    print("checked: the depths are equal")

    reached = depth >= 0
    distance = (depth * reached).sum(1) / reached.sum(1).clamp(min=1)
    in_largest = reached.sum(1) == reached.sum(1).max()
    print("closest to everything (id, closeness):")
    closeness = torch.where(in_largest, 1 / distance, 0)
    for vertex, value in graph.top(closeness, 5):
        print(f"  {vertex}: {value:.3f}")
    tg.draw(graph.subgraph(in_largest), "many_bfs.png", color=closeness[in_largest], inches=6)
    print("picture: many_bfs.png")


if __name__ == "__main__":
    main()
