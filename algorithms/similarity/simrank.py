"""SimRank: two vertices are similar where their neighbours are (Jeh and Widom, "SimRank: a measure of
structural-context similarity", KDD 2002).

    s(u, u) = 1,     s(u, v) = c * the mean of s(a, b) over the in-neighbours a of u and b of v

For all pairs this is iterated on a matrix, each iteration two products with the sparse matrix of arcs, O(n m). For one
vertex it is c to the power of the steps that walks against the arcs from u and v take until they meet, on average:
walks of all vertices are drawn together, those that have met going on together, so that a round of a sample is one draw
for each vertex (Fogaras and Racz, "Scaling link-based similarity search", WWW 2005).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

import tgraph as tg

AT_ONCE = 1 << 18  # walks that are drawn together


def simrank(
    graph: tg.Graph,
    *,
    importance_factor: float = 0.9,
    max_iterations: int = 1000,
    tol: float = 1e-4,
    weighted: bool = False,
) -> Tensor:
    """SimRank of all pairs of vertices, float64 [n, n].

    `importance_factor` is c, what each further step counts. It ends where an iteration changes no value by more than
    `tol` and 1e-5 of it, as in networkx. `weighted`, means are weighed by graph.weights. Parallel arcs count each.
    Raises NotConvergedError after `max_iterations`, and ArgumentError for a factor outside of 0 to 1, and weights that
    are missing, negative or not finite.

    >>> tg.algorithms.simrank(tg.generators.star(2)).round(decimals=3)
    tensor([[1.0000, 0.0000, 0.0000],
            [0.0000, 1.0000, 0.9000],
            [0.0000, 0.9000, 1.0000]], dtype=torch.float64)
    """
    _check(importance_factor)
    n = graph.num_vertices
    if weighted and graph.weight_dtype is None:
        raise tg.errors.ArgumentError("weighted: the graph has no weights; leave weighted=False")
    if weighted:
        tg.primitives.weights.check(graph, "measures", "means over neighbours")
    edge = "mul" if weighted else "copy"
    total = tg.aggregate(graph, torch.ones(n, dtype=torch.float64, device=graph.device), "sum", edge=edge)
    share = torch.where(total == 0, 0, 1 / total)[:, None]
    similarity = torch.eye(n, dtype=torch.float64, device=graph.device)
    before = similarity
    for _ in range(max_iterations):
        before = similarity
        half = (tg.aggregate(graph, before, "sum", edge=edge) * share).T.contiguous()
        similarity = tg.aggregate(graph, half, "sum", edge=edge).mul_(share * importance_factor)
        similarity.fill_diagonal_(1)
        if torch.allclose(before, similarity, atol=tol):
            return similarity
    residual = float((similarity - before).abs().max()) if n else 0.0
    raise tg.errors.NotConvergedError(
        f"max_iterations: values still change by {residual:.3g} after {max_iterations}, the tolerance is {tol:g}; "
        "allow more, or take a smaller importance_factor",
        tg.Run(similarity, max_iterations, False, residual),
        residual,
    )


def approximate_simrank(
    graph: tg.Graph,
    source: int,
    *,
    importance_factor: float = 0.9,
    epsilon: float = 0.05,
    delta: float = 0.1,
    seed: int = 0,
) -> Tensor:
    """Estimated SimRank of every vertex to `source`: float64 [n], no value off by more than `epsilon` with probability
    1 - `delta`.

    `importance_factor` is c of `simrank`, without weights. O(n log n / epsilon^2 log(1 / epsilon)) whatever the number
    of arcs. The same `seed` gives the same result. Raises ArgumentError for a source that is no vertex, and numbers
    that are not between 0 and 1.

    >>> similarity = tg.algorithms.approximate_simrank(tg.generators.star(3), 1, seed=1)
    >>> similarity.round(decimals=1)
    tensor([0.0000, 1.0000, 0.9000, 0.9000], dtype=torch.float64)
    """
    _check(importance_factor)
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value < 1:
            raise tg.errors.ArgumentError(f"{name}: must be between 0 and 1, got {value}")
    start = int(graph.as_vertices(source, "source"))
    n, back = graph.num_vertices, graph.decoded().transpose()
    # Half of epsilon for walks that are cut off, half for the samples (Hoeffding, over n estimates).
    steps = max(1, math.ceil(math.log(epsilon / 2) / math.log(importance_factor))) if 0 < importance_factor < 1 else n
    samples = math.ceil(math.log(2 * n / delta) / (2 * (epsilon / 2) ** 2))
    total, key = torch.zeros(n, dtype=torch.float64, device=graph.device), tg.random.key(seed)
    for group in torch.arange(samples, device=graph.device).split(max(1, AT_ONCE // n)):
        for step, met in enumerate(_meetings(back, start, key, group * steps, steps), 1):
            total += met.sum(0) * importance_factor**step
    found = total / samples
    found[start] = 1
    return found


def _meetings(back: tg.Graph, start: int, key: int, first: Tensor, steps: int) -> Iterator[Tensor]:
    """For each step of walks from all vertices, who meets the walk from `start` then, bool [k, n] for k samples, whose
    draws are numbered from `first` [k] on."""
    n, k = back.num_vertices, len(first)
    vertex = torch.arange(n, device=back.device)
    degree, offset = back.out_degree, back.offset[:-1]
    neighbors = torch.cat((back.neighbors.to(torch.int64), vertex[:1]))  # one more, for vertices without arcs
    at, apart = vertex.expand(k, n), (vertex != start).expand(k, n)
    for step in range(steps):
        draw = tg.random.below(key, (first[:, None] + step) * n + vertex, degree)
        going = (degree > 0)[at]
        at = neighbors[offset + draw].gather(1, at)
        met = apart & going & going[:, start, None] & (at == at[:, start, None])
        apart = apart & ~met & going & going[:, start, None]
        yield met
        if not bool(apart.any()):
            return


def _check(importance_factor: float) -> None:
    if not 0 <= importance_factor <= 1:
        raise tg.errors.ArgumentError(f"importance_factor: must be between 0 and 1, got {importance_factor}")
