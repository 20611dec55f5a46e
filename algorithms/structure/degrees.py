"""The distribution of degrees, and the power law that fits its tail.

As Clauset, Shalizi and Newman ("Power-law distributions in empirical data", SIAM Review 51, 2009): values x from xmin
on have the probability x^-alpha / zeta(alpha, xmin). For each xmin among the values alpha is that of largest
likelihood, and the xmin is taken whose law is closest to the data by the statistic of Kolmogorov and Smirnov.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

import tgraph as tg

LARGEST_EXPONENT, STEPS = 30.0, 80
SINGLE, CELLS = 256, 256  # values that samples count one by one, and ranges of them that they count beyond
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
    """Number of vertices of each degree: 0, 1, 2 and so on, int64 [largest degree + 1], as networkx.degree_histogram.

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


def power_law_p_value(values: Tensor, law: PowerLaw, *, samples: int = 100, seed: int = 0) -> float:
    """How well the `law` that `power_law_fit` found fits the `values` [k]: of `samples` drawn from the law with the
    `seed`, each with an exponent fitted to it, the share that is as far from its own law as the values are from theirs.
    Below 0.1 a power law fits badly.

    As in section 4 of the paper, but that samples keep xmin: that of the data was chosen to fit best, so that the value
    is on the high side, and a law that is refused here would be there. Large values are counted by ranges of 7 %.
    Raises ArgumentError for fewer than one sample.

    >>> degree = tg.generators.barabasi_albert(2000, 3).out_degree
    >>> tg.algorithms.power_law_p_value(degree, tg.algorithms.power_law_fit(degree)) > 0.1
    True
    >>> alike = torch.tensor([4] * 500 + [5] * 500 + [6] * 500)
    >>> tg.algorithms.power_law_p_value(alike, tg.algorithms.power_law_fit(alike, 4))
    0.0
    """
    if samples < 1:
        raise tg.errors.ArgumentError(f"samples: expected at least one, got {samples}")
    first = torch.arange(SINGLE, dtype=torch.float64) + law.xmin
    ranges = torch.logspace(0, 1, CELLS + 1, base=float(1.07**CELLS), dtype=torch.float64)
    start = torch.cat((first, (ranges * (law.xmin + SINGLE)).round().unique()))  # of each cell; the last has no end
    alpha, xmin = torch.tensor([law.alpha]), torch.tensor([float(law.xmin)])
    below = torch.special.zeta(alpha, start) / torch.special.zeta(alpha, xmin)
    chance = (below - torch.cat((below[1:], below.new_zeros(1)))).clamp(min=0).numpy()
    drawn = torch.from_numpy(np.random.default_rng(seed).multinomial(law.tail, chance / chance.sum(), size=samples))
    drawn = drawn.to(torch.float64)
    logarithm = torch.cat((first.log(), _mean_logarithms(start[SINGLE:], law.alpha)))
    fitted = _exponents(xmin.expand(samples), (drawn @ logarithm) / law.tail)
    found = values[values >= law.xmin].cpu().to(torch.float64).sort().values
    reached = torch.searchsorted(found, start[1:])  # how many are below each cell but the first
    own = _cell_distance(reached[None].to(torch.float64) / law.tail, start, alpha, xmin)
    others = _cell_distance(drawn.cumsum(1)[:, :-1] / law.tail, start, fitted, xmin)
    return float((others >= own).to(torch.float64).mean())


def _mean_logarithms(start: Tensor, alpha: float) -> Tensor:
    """The mean logarithm of the values of a power law between each two starts, and beyond the last: by integrals."""
    tail = start ** (1 - alpha)
    moment = tail * (start.log() + 1 / (alpha - 1))
    mass, moments = (
        tail - torch.cat((tail[1:], tail.new_zeros(1))),
        moment - torch.cat((moment[1:], moment.new_zeros(1))),
    )
    return torch.where(mass > 0, moments / mass, start.log())


def _cell_distance(below: Tensor, start: Tensor, alpha: Tensor, xmin: Tensor) -> Tensor:
    """The largest difference of the shares [s, cells - 1] below each cell but the first and those of s laws."""
    law = 1 - torch.special.zeta(alpha[:, None], start[None, 1:]) / torch.special.zeta(alpha, xmin)[:, None]
    return (below - law).abs().amax(1)


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
