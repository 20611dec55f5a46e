"""Models of sequential edge rewiring or attachment, drawn in parallel."""

from __future__ import annotations

import torch

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.simple import EDGES, VERTICES, check_count, check_probability, on_cpu, simple


@on_cpu
def barabasi_albert(n: int, m: int, seed: int = 0, *, weighted: bool = False) -> Graph:
    """A scale-free graph of `n` vertices: each new one is joined to `m` others drawn proportionally to their degree.

    Barabási and Albert, Science 1999, by the method of Batagelj and Brandes (Physical Review E 2005): in the list of
    the ends of all edges each vertex occurs degree times, so an edge's target is a random earlier entry, possibly a
    target itself. The chains of these are followed for all edges at once (Sanders and Schulz, Information Processing
    Letters 2016). Self-loops, as of vertex 0, and parallel edges are dropped, so that there are somewhat fewer than
    n * m edges. Another `seed` gives another graph; `weighted` edges have int32 weights in 1..255. Raises ArgumentError
    for m < 1.

    >>> graph = tg.generators.barabasi_albert(1000, 2, seed=1)
    >>> graph.num_vertices, graph.num_edges, int(graph.out_degree.max())
    (1000, 1977, 97)
    """
    n, m = check_count(n, "n"), check_count(m, "m", 1)
    key, edge = random.key(seed, EDGES), torch.arange(n * m)
    entry = 2 * edge + 1  # entry 2 i is the source of edge i, entry 2 i + 1 its target
    while len(chained := (entry & 1).nonzero()[:, 0]):
        number = entry[chained]
        entry[chained] = random.below(key, number, number)
    return simple(edge // m, entry // 2 // m, n, seed=seed, weighted=weighted)


@on_cpu
def watts_strogatz(n: int, k: int, p: float, seed: int = 0, *, weighted: bool = False) -> Graph:
    """A small world: a ring of `n` vertices, each joined to its `k` nearest, an even number; then the far end of each
    edge is moved to a random vertex with probability `p`.

    Watts and Strogatz, Nature 1998. Self-loops and parallel edges are dropped. Another `seed` gives another graph;
    `weighted` edges have int32 weights in 1..255. ArgumentError for an odd k, k >= n, or p outside 0..1.

    >>> tg.generators.watts_strogatz(100, 4, 0.0).num_edges
    200
    """
    n, k, p = check_count(n, "n"), check_count(k, "k"), check_probability(p, "p")
    if k % 2 or k >= max(n, 1):
        raise ArgumentError(f"k: {k} is odd or not below n = {n}; each vertex is joined to k / 2 on either side")
    edge = torch.arange(n * (k // 2))
    src, step = edge % max(n, 1), edge // max(n, 1) + 1
    moved = random.uniform(random.key(seed, EDGES), edge) < p
    anywhere = random.below(random.key(seed, VERTICES), edge, n)
    return simple(src, torch.where(moved, anywhere, (src + step) % max(n, 1)), n, seed=seed, weighted=weighted)
