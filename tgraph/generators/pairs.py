"""Random graphs of independent pairs: Erdős and Rényi, "On random graphs I", 1959; Gilbert, "Random graphs", 1959."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.core.random import Words
from tgraph.errors import ArgumentError
from tgraph.generators.chunks import in_chunks
from tgraph.generators.kronecker import count_edges
from tgraph.generators.simple import EDGES, check_count, check_probability, first_occurrences, on_cpu, simple

GAP_BITS = 62  # of the longest gap between two joined pairs


@on_cpu
def uniform(
    scale: int, edge_factor: int = 16, seed: int = 0, *, directed: bool = False, weighted: bool = False
) -> Graph:
    """A graph of `2**scale` vertices and about `edge_factor * 2**scale` edges with uniformly random ends.

    Erdős and Rényi, "On random graphs I", 1959; GAP's "urand". Another `seed` gives another graph; `directed` edges
    point one way; `weighted` ones have int32 weights in 1..255. Raises ArgumentError for sizes out of range.

    >>> graph = tg.generators.uniform(10, edge_factor=4)
    >>> graph.num_vertices, round(graph.num_edges / 1024)
    (1024, 4)
    """
    count = count_edges(scale, edge_factor)
    key = random.key(seed, EDGES)
    src, dst = in_chunks(lambda first, last: _uniform_edges(key, scale, first, last), count)
    return simple(src, dst, 2**scale, directed=directed, seed=seed, weighted=weighted)


@on_cpu
def erdos_renyi(n: int, p: float, seed: int = 0, *, directed: bool = False, weighted: bool = False) -> Graph:
    """The random graph G(n, p): each pair of `n` vertices is joined with probability `p`, independently.

    O(n + m): the gaps between joined pairs are drawn (Batagelj and Brandes, Physical Review E 2005). Another `seed`
    gives another graph; `directed` takes ordered pairs; `weighted` edges have int32 weights in 1..255. Raises
    ArgumentError for a negative n or a p outside 0..1.

    >>> graph = tg.generators.erdos_renyi(100, 0.1, seed=1)
    >>> graph.num_edges, round(0.1 * 100 * 99 / 2)
    (521, 495)
    """
    n, p = check_count(n, "n"), check_probability(p, "p")
    pair = joined(random.key(seed, EDGES), p, num_pairs(n, directed))
    return simple(*ends_of(pair, n, directed), n, directed=directed, seed=seed, weighted=weighted)


@on_cpu
def random_edges(n: int, m: int, seed: int = 0, *, directed: bool = False, weighted: bool = False) -> Graph:
    """The random graph G(n, m): `n` vertices and exactly `m` edges, a uniformly random set of pairs.

    `seed`, `directed` and `weighted` are those of `erdos_renyi`. Raises ArgumentError for more edges than pairs.

    >>> tg.generators.random_edges(100, 250, seed=1).num_edges
    250
    """
    n, m = check_count(n, "n"), check_count(m, "m")
    total = num_pairs(n, directed)
    if m > total:
        raise ArgumentError(f"m: {n} vertices have {total} pairs; {m} of them cannot be joined")
    fewer = min(m, total - m)  # or the pairs to leave out, if fewer
    pair = _distinct(random.key(seed, EDGES), fewer, total)
    if fewer < m:
        joined = torch.ones(total, dtype=torch.bool)
        joined[pair] = False
        pair = joined.nonzero()[:, 0]
    return simple(*ends_of(pair, n, directed), n, directed=directed, seed=seed, weighted=weighted)


def num_pairs(n: int, directed: bool) -> int:
    """The number of pairs of different vertices, ordered if `directed`."""
    return n * (n - 1) if directed else n * (n - 1) // 2


def ends_of(pair: Tensor, n: int, directed: bool) -> tuple[Tensor, Tensor]:
    """The vertices of each pair by its number, int64 [k]: row by row of the matrix, off or below its diagonal."""
    if directed:
        src = pair // max(n - 1, 1)
        dst = pair - src * (n - 1)
        return src, dst + (dst >= src)
    larger = ((1 + (1 + 8 * pair.to(torch.float64)).sqrt()) / 2).to(torch.int64)
    larger -= (larger * (larger - 1) // 2 > pair).to(torch.int64)  # the root of a large number is rounded
    larger += (larger * (larger + 1) // 2 <= pair).to(torch.int64)
    return larger, pair - larger * (larger - 1) // 2


def joined(key: int, p: float, total: int) -> Tensor:
    """A random subset of 0..total - 1, each number with probability `p`, int64 ascending."""
    if p == 0 or total == 0:
        return torch.empty(0, dtype=torch.int64)
    if p == 1:
        return torch.arange(total)
    parts, last, drawn = [], -1, 0
    while last < total:
        left = (total - 1 - last) * p
        count = int(left + 5 * left**0.5) + 16
        gap = _gaps(random.uniform(key, torch.arange(drawn, drawn + count)), p).clamp_(max=total)
        fitting = gap.to(torch.float64).cumsum(0) < 2.0**62  # larger sums would overflow, and pass the end
        position = last + (gap[: max(int(fitting.sum()), 1)] + 1).cumsum(0)
        parts.append(position[position < total])
        last, drawn = int(position[-1]), drawn + count
        if len(position) < count:
            break
    return torch.cat(parts)


def _gaps(drawn: Tensor, p: float) -> Tensor:
    """The numbers of pairs before the next joined one, from numbers in [0, 1): the largest k with (1 - p)**k > drawn,
    by its bits. Multiplications, unlike logarithms, are rounded the same everywhere."""
    powers = [1 - p]
    while len(powers) < GAP_BITS and powers[-1] > 0:
        powers.append(powers[-1] * powers[-1])
    gap, reached = torch.zeros(len(drawn), dtype=torch.int64), torch.ones(len(drawn), dtype=torch.float64)
    for bit in range(len(powers) - 1, -1, -1):
        further = reached * powers[bit]
        passed = further > drawn
        gap += passed.to(torch.int64) << bit
        reached = torch.where(passed, further, reached)
    return gap


def _distinct(key: int, count: int, total: int) -> Tensor:
    """The first `count` different numbers of a random sequence in 0..total - 1, int64."""
    drawn = count + count // 8 + 16
    while True:
        number = random.below(key, torch.arange(drawn), total)
        found = number[first_occurrences(number)]
        if len(found) >= count:
            return found[:count]
        drawn *= 2


def _uniform_edges(key: int, scale: int, first: int, last: int) -> tuple[Words, Words]:
    """Edges first..last - 1: the source from the upper half of a random word, the target from the lower."""
    word = random.stretch(key, first, last)
    unused = np.uint64(32 - scale)
    return word >> np.uint64(32) >> unused, (word & np.uint64(0xFFFFFFFF)) >> unused
