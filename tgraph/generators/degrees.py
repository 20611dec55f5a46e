"""Random graphs of given degrees: pairings of stubs (Bollobás, European Journal of Combinatorics 1980)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.classic import complete
from tgraph.generators.simple import EDGES, check_count, first_occurrences, on_cpu, simple

PATIENCE = 50


@on_cpu
def configuration_model(degrees: Any, seed: int = 0, *, multi: bool = False) -> Graph:
    """An undirected graph with the `degrees` [n]: their stubs paired at random.

    `multi` preserves parallel edges and self-loops, and so all degrees (a self-loop takes two stubs); otherwise they
    are dropped, and some degrees are smaller. Another `seed` gives another graph. Raises ArgumentError for a negative
    degree, or an odd sum.

    >>> tg.generators.configuration_model([3, 2, 2, 1], multi=True).num_edges
    4
    """
    degree = inputs.as_index(degrees, "degrees")
    if bool((degree < 0).any()):
        position = int((degree < 0).nonzero()[0])
        raise ArgumentError(f"degrees: {int(degree[position])} at position {position} is negative")
    if int(degree.sum()) % 2:
        raise ArgumentError(f"degrees: their sum {int(degree.sum())} is odd; each edge has two ends")
    src, dst = _paired(stubs(degree), random.key(seed, EDGES), torch.zeros_like(degree))
    if multi:
        return Graph.from_edges(src, dst, num_vertices=len(degree), directed=False)
    return simple(src, dst, len(degree))


@on_cpu
def random_regular(n: int, degree: int, seed: int = 0) -> Graph:
    """A random simple graph of `n` vertices, all of this `degree`.

    Stubs are paired at random; self-loops and parallel edges exchange ends with other edges until there are none (the
    graphs are nearly equally likely). Another `seed` gives another graph. Raises ArgumentError for a degree of n or
    more, or an odd n * degree.

    >>> tg.generators.random_regular(10, 3, seed=1).out_degree
    tensor([3, 3, 3, 3, 3, 3, 3, 3, 3, 3])
    """
    n, degree = check_count(n, "n"), check_count(degree, "degree")
    if degree >= max(n, 1) or n * degree % 2:
        raise ArgumentError(
            f"degree: no simple graph of {n} vertices has degree {degree} at each; give a degree below n, and an even "
            "n * degree"
        )
    if degree > n // 2:  # the complement is sparse, and easier to find
        every, sparse = complete(n), random_regular(n, n - 1 - degree, seed)
        keys = [_keys(torch.repeat_interleave(torch.arange(n), g.out_degree), g.neighbors, n) for g in (every, sparse)]
        left = keys[0][~torch.isin(keys[0], keys[1])].unique()
        return simple(left // n, left % n, n)
    src, dst, wrong = pair_stubs(stubs(torch.full((n,), degree)), n, random.key(seed, EDGES))
    if len(wrong):
        raise ArgumentError(f"degree: no graph was found for n = {n}, degree = {degree}; take another seed")
    return simple(src, dst, n)


def stubs(degree: Tensor) -> Tensor:
    """Each vertex repeated degree times, int64."""
    return torch.repeat_interleave(torch.arange(len(degree)), degree)


def pair_stubs(
    stubs: Tensor,
    n: int,
    key: int,
    *,
    group: Tensor | None = None,
    unwanted: Callable[[Tensor, Tensor], Tensor] | None = None,
    rounds: int = 1000,
) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs (src, dst) of an even number of stubs, and the positions of remaining wrong pairs: self-loops, repeated and
    `unwanted` ones. With a `group` [n] of each vertex, pairs are within groups, each of even size. In each round wrong
    pairs exchange an end with random pairs of their group if both become right; `rounds` limits them, and PATIENCE
    those without progress."""
    group = torch.zeros(n, dtype=torch.int64) if group is None else group
    src, dst = _paired(stubs, key, group)
    count = group[src].bincount(minlength=1)
    first = count.cumsum(0) - count
    since, wrong = 0, _wrong(src, dst, n, unwanted)
    for _ in range(rounds):
        if not len(wrong) or since == PATIENCE:
            break
        key, within, before = random.key(key, 1), group[src[wrong]], len(wrong)
        other = first[within] + random.below(key, torch.arange(before), count[within])
        _exchange(src, dst, wrong, other, n, unwanted)
        wrong = _wrong(src, dst, n, unwanted)
        since = since + 1 if len(wrong) == before else 0
    return src, dst, wrong


def _exchange(
    src: Tensor,
    dst: Tensor,
    wrong: Tensor,
    other: Tensor,
    n: int,
    unwanted: Callable[[Tensor, Tensor], Tensor] | None,
) -> None:
    """Turn wrong pairs (a, b) and others (c, d) into (a, d) and (c, b), in place, where both become right."""
    present = _keys(src, dst, n).sort().values
    mixed = torch.stack((src[wrong], src[other])), torch.stack((dst[other], dst[wrong]))
    made = _keys(*mixed, n)
    at = torch.searchsorted(present, made).clamp(max=len(present) - 1)
    bad = (mixed[0] == mixed[1]) | (present[at] == made)
    if unwanted is not None:
        bad |= unwanted(*mixed)
    among = torch.zeros(len(src), dtype=torch.bool)
    among[wrong] = True
    chosen = (~bad.any(0) & ~among[other]).nonzero()[:, 0]
    chosen = chosen[first_occurrences(other[chosen])]
    twice = ~first_occurrences(made[:, chosen].T.flatten()).reshape(-1, 2)
    chosen = chosen[~twice.any(1)]
    dst[wrong[chosen]], dst[other[chosen]] = mixed[1][0, chosen], mixed[1][1, chosen]


def _paired(stubs: Tensor, key: int, group: Tensor) -> tuple[Tensor, Tensor]:
    """Random pairs within groups, group by group."""
    shuffled = stubs[random.permutation(key, len(stubs))]
    shuffled = shuffled[group[shuffled].argsort(stable=True)]
    return shuffled[0::2].clone(), shuffled[1::2].clone()


def _wrong(src: Tensor, dst: Tensor, n: int, unwanted: Callable[[Tensor, Tensor], Tensor] | None) -> Tensor:
    """The positions of self-loops, repetitions of pairs, and unwanted pairs."""
    wrong = (src == dst) | ~first_occurrences(_keys(src, dst, n))
    if unwanted is not None:
        wrong |= unwanted(src, dst)
    return wrong.nonzero()[:, 0]


def _keys(src: Tensor, dst: Tensor, n: int) -> Tensor:
    """A number for each unordered pair of vertices."""
    return torch.minimum(src, dst).to(torch.int64) * n + torch.maximum(src, dst)
