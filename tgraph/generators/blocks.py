"""Random graphs with communities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators import exact
from tgraph.generators.degrees import pair_stubs, stubs
from tgraph.generators.pairs import ends_of, joined, num_pairs
from tgraph.generators.simple import EDGES, SHUFFLE, VERTICES, check_count, on_cpu, simple

ROUNDS = 40  # of pairing; a few edges in a thousand are still repeated then


@on_cpu
def stochastic_block_model(
    sizes: Sequence[int], probabilities: Any, seed: int = 0, *, directed: bool = False, weighted: bool = False
) -> Graph:
    """Blocks of consecutive vertices of these `sizes`; a pair of vertices of blocks a and b is joined with probability
    `probabilities`[a][b].

    Holland, Laskey and Leinhardt, Social Networks 1983. O(n + m + blocks^2). Another `seed` gives another graph;
    `directed` edges are drawn for ordered pairs; `weighted` ones have int32 weights in 1..255. Raises ArgumentError for
    probabilities that are not [blocks, blocks] numbers in 0..1, or not symmetric although the graph is undirected.

    >>> graph = tg.generators.stochastic_block_model([30, 30], [[0.5, 0.01], [0.01, 0.5]], seed=1)
    >>> tg.algorithms.modularity(graph, torch.arange(60) // 30) > 0.4
    True
    """
    counts = [check_count(size, f"sizes[{i}]") for i, size in enumerate(sizes)]
    p = np.asarray(probabilities, dtype=np.float64).reshape(np.shape(probabilities))
    if p.shape != (len(counts),) * 2 or not ((p >= 0) & (p <= 1)).all():
        raise ArgumentError(f"probabilities: expected [{len(counts)}, {len(counts)}] numbers in 0..1, got {p.tolist()}")
    if not directed and not (p == p.T).all():
        raise ArgumentError("probabilities: not symmetric, as an undirected graph needs; pass directed=True")
    first = np.concatenate(([0], np.cumsum(counts))).tolist()
    ends = [(torch.empty(0, dtype=torch.int64),) * 2]
    for a in range(len(counts)):
        for b in range(0 if directed else a, len(counts)):
            pairs = num_pairs(counts[a], directed) if a == b else counts[a] * counts[b]
            pair = joined(random.key(random.key(seed, EDGES), a * len(counts) + b), float(p[a, b]), pairs)
            src, dst = ends_of(pair, counts[a], directed) if a == b else (pair // counts[b], pair % counts[b])
            ends.append((src + first[a], dst + first[b]))
    src, dst = (torch.cat(side) for side in zip(*ends, strict=True))
    return simple(src, dst, first[-1], directed=directed, seed=seed, weighted=weighted)


@on_cpu
def lfr(
    n: int,
    tau1: float = 2.5,
    tau2: float = 1.5,
    mu: float = 0.1,
    *,
    min_degree: int = 10,
    max_degree: int | None = None,
    min_community: int = 20,
    max_community: int | None = None,
    seed: int = 0,
) -> tuple[Graph, Tensor]:
    """An LFR benchmark of community detection: the graph, and the community of each vertex, int64 [n].

    Lancichinetti, Fortunato and Radicchi, Physical Review E 2008. Degrees of the `n` vertices follow a power law of
    exponent `tau1` in `min_degree`..`max_degree` (default: the root of 10 n), sizes of communities one of `tau2` in
    `min_community`..`max_community` (default: n / 10 or more); each vertex has the fraction `mu` of its edges outside
    of its community. Stubs are paired at random within communities and between them; repeated edges, and outside edges
    within a community, are drawn again, and the few left are dropped. Another `seed` gives another graph. Raises
    ArgumentError for inconsistent arguments.

    >>> graph, community = tg.generators.lfr(200, seed=1)
    >>> len(community), tg.algorithms.modularity(graph, community) > 0.5
    (200, True)
    """
    n = check_count(n, "n")
    if not 0 <= mu <= 1:
        raise ArgumentError(f"mu: {mu} is not a fraction; give a number in 0..1")
    max_degree = max(min_degree, int((10 * n) ** 0.5)) if max_degree is None else max_degree
    degree = _power_law(random.key(seed, VERTICES), n, tau1, min_degree, max_degree, "degree").sort(descending=True)[0]
    inside = ((1 - mu) * degree.to(torch.float64)).round().to(torch.int64)
    least = int(inside.max()) + 1 if n else 1
    max_community = max(n // 10, least, min_community) if max_community is None else max_community
    if max_community < least:
        raise ArgumentError(
            f"max_community: {max_community} vertices are too few for a degree of {least - 1} inside; "
            f"give at least {least}, or a smaller max_degree"
        )
    size = _community_sizes(random.key(seed, SHUFFLE), n, tau2, min_community, max_community, least)
    community = _assigned(random.key(seed, SHUFFLE + 10), inside, size)
    odd = torch.zeros(len(size), dtype=torch.int64).index_add_(0, community, inside) % 2
    leader = torch.full((len(size),), n).scatter_reduce_(0, community, torch.arange(n), "amin")
    inside[leader[odd == 1]] -= 1  # of the vertex of largest degree: a sum of degrees is even
    within = pair_stubs(stubs(inside), n, random.key(seed, EDGES), group=community, rounds=ROUNDS)
    outside = degree - inside
    if n and int(outside.sum()) % 2:
        outside[0] += 1
    apart = lambda src, dst: community[src] == community[dst]  # noqa: E731
    between = pair_stubs(stubs(outside), n, random.key(seed, EDGES + 10), unwanted=apart, rounds=ROUNDS)
    ends = torch.cat([_valid(*pairs) for pairs in (within, between)], dim=1)
    order = random.permutation(random.key(seed, SHUFFLE + 20), n)  # so that numbers are independent of degrees
    labels = torch.empty_like(community)
    labels[order] = community
    return simple(order[ends[0]], order[ends[1]], n, seed=seed), labels


def _power_law(key: int, count: int, exponent: float, low: int, high: int, what: str) -> Tensor:
    """Integers in low..high, k with probability proportional to k**-exponent, int64 [count]."""
    if not 1 <= low <= high:
        raise ArgumentError(f"min_{what}, max_{what}: {low}..{high} is not a range of positive numbers")
    weight = exact.power(np.arange(low, high + 1, dtype=np.float64), -exponent)
    bounds = torch.from_numpy(weight.cumsum() / weight.cumsum()[-1])
    drawn = random.uniform(key, torch.arange(count))
    return low + torch.searchsorted(bounds, drawn, right=True).clamp_(max=high - low)


def _community_sizes(key: int, n: int, exponent: float, low: int, high: int, least: int) -> Tensor:
    """Sizes that sum to n, descending; the largest has at least `least` vertices, by merging."""
    drawn = _power_law(key, n // max(low, 1) + 1, exponent, low, high, "community")
    count = int((drawn.cumsum(0) < n).sum()) + 1
    size = drawn[:count].tolist() if n else []
    if size:
        size[-1] -= sum(size) - n
        size.sort(reverse=True)
        while len(size) > 1 and (size[0] < least or size[-1] < low):
            smallest = size.pop()
            size[0 if size[0] < least else -1] += smallest
            size.sort(reverse=True)
    return torch.tensor(size, dtype=torch.int64)


def _assigned(key: int, inside: Tensor, size: Tensor) -> Tensor:
    """The community of each vertex: vertices in descending order of their degree `inside` draw, one after the other, a
    free place in a community with more vertices than that."""
    place = torch.repeat_interleave(torch.arange(len(size)), size)
    fitting = torch.searchsorted(-size[place], -inside)  # number of places in communities that are large enough
    draws = random.uniform(key, torch.arange(len(inside))).tolist()
    free, taken = place.tolist(), []
    for i, (last, drawn) in enumerate(zip(fitting.clamp(min=1).tolist(), draws, strict=True)):
        chosen = i + int(drawn * max(last - i, 1))
        free[i], free[chosen] = free[chosen], free[i]
        taken.append(free[i])
    return torch.tensor(taken, dtype=torch.int64)


def _valid(src: Tensor, dst: Tensor, wrong: Tensor) -> Tensor:
    """The pairs at positions not in `wrong`, [2, k]."""
    valid = torch.ones(len(src), dtype=torch.bool)
    valid[wrong] = False
    return torch.stack((src[valid], dst[valid]))
