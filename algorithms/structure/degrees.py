"""The distribution of degrees, and the power law that fits its tail.

As Clauset, Shalizi and Newman ("Power-law distributions in empirical data", SIAM Review 51, 2009): values x from xmin
on have the probability x^-alpha / zeta(alpha, xmin). For each xmin among the values alpha is that of largest
likelihood, and the xmin is taken whose law is closest to the data by the statistic of Kolmogorov and Smirnov.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

import tgraph as tg

LARGEST_EXPONENT, STEPS = 30.0, 80
RATIO = (5**0.5 - 1) / 2  # of golden sections


class PowerLaw(NamedTuple):
    """The exponent `alpha` and its standard error `sigma`; the least value `xmin` that follows the law and how many do
    (`tail`); and the largest distance `ks` between the distributions of the data and of the law.

    >>> degree = torch.tensor([1, 1, 1, 1, 2, 2, 3, 5])
    >>> law = tg.algorithms.power_law_fit(degree, xmin=1)
    >>> law.xmin, law.tail, round(law.alpha, 2)
    (1, 8, 2.07)
    """

    alpha: float
    xmin: int
    ks: float
    sigma: float
    tail: int


def degree_distribution(graph: tg.Graph, direction: str = "out") -> Tensor:
    """How many vertices have degree 0, 1, 2 and so on, int64 [largest degree + 1], as networkx.degree_histogram.

    direction : "out", "in", or "both" for the sum of the two, in directed graphs. A self-loop counts once each way.
    Raises ArgumentError for another direction.

    >>> tg.algorithms.degree_distribution(tg.generators.star(4))
    tensor([0, 4, 0, 0, 1])
    """
    if direction not in ("in", "out", "both"):
        raise tg.errors.ArgumentError(f"direction: {direction!r} is not 'in', 'out' or 'both'")
    if not graph.directed or direction == "out":
        return torch.bincount(graph.out_degree)
    return torch.bincount(graph.in_degree if direction == "in" else graph.in_degree + graph.out_degree)


def power_law_fit(values: Tensor, xmin: int | None = None) -> PowerLaw:
    """The power law that fits positive integers `values` [k], such as degrees, best; those below 1 are left out.

    xmin : where the law begins, by default the value from which on it fits best. At least two different values must be
    left from there on. Raises ArgumentError where they are not.

    >>> degree = tg.generators.barabasi_albert(2000, 3).out_degree
    >>> law = tg.algorithms.power_law_fit(degree)
    >>> round(law.alpha, 1), law.xmin
    (2.7, 4)
    """
    if not isinstance(values, Tensor) or values.is_floating_point() or values.dim() != 1:
        raise tg.errors.ArgumentError("values: expected a tensor of integers [k], such as graph.out_degree")
    found, count = values[values >= 1].cpu().unique(return_counts=True)
    if xmin is not None:
        count, found = count[found >= xmin], found[found >= xmin]
    if len(found) < 2:
        raise tg.errors.ArgumentError(f"values: a law needs two different values from {xmin or 1} on")
    x, count = found.to(torch.float64), count.to(torch.float64)
    starts = x[:-1] if xmin is None else x.new_tensor([xmin])
    tail = count.flip(0).cumsum(0).flip(0)[: len(starts)]
    logarithms = (count * x.log()).flip(0).cumsum(0).flip(0)[: len(starts)]
    alpha = _exponents(starts, logarithms / tail)
    distance = torch.stack([_distance(x[i:], count[i:], alpha[i], starts[i]) for i in range(len(starts))])
    best = int(distance.argmin())
    return PowerLaw(
        float(alpha[best]),
        int(starts[best]),
        float(distance[best]),
        _error(alpha[best], starts[best], tail[best]),
        int(tail[best]),
    )


def _exponents(xmin: Tensor, mean_logarithm: Tensor) -> Tensor:
    """The exponents of largest likelihood, by golden sections: the likelihood is concave."""
    low, high = torch.full_like(xmin, 1 + 1e-6), torch.full_like(xmin, LARGEST_EXPONENT)

    def likelihood(alpha: Tensor) -> Tensor:
        return -torch.special.zeta(alpha, xmin).log() - alpha * mean_logarithm

    for _ in range(STEPS):
        left, right = high - RATIO * (high - low), low + RATIO * (high - low)
        lower = likelihood(left) < likelihood(right)
        low, high = torch.where(lower, left, low), torch.where(lower, high, right)
    return (low + high) / 2


def _distance(x: Tensor, count: Tensor, alpha: Tensor, xmin: Tensor) -> Tensor:
    """The largest difference of the shares of the data and of the law at or below any value."""
    below = count.cumsum(0) / count.sum()
    return (below - (1 - torch.special.zeta(alpha, x + 1) / torch.special.zeta(alpha, xmin))).abs().max()


def _error(alpha: Tensor, xmin: Tensor, tail: Tensor) -> float:
    """The standard error of an exponent: from the curvature of the likelihood."""
    step = 1e-4
    before, here, after = (torch.special.zeta(alpha + d, xmin).log() for d in (-step, 0.0, step))
    return float(1 / (tail * (before - 2 * here + after) / step**2).sqrt())
