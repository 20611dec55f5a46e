"""Random geometric graphs: vertices are points, joined where they are near."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators import exact
from tgraph.generators.simple import VERTICES, check_count, on_cpu, simple

PAIRS_AT_ONCE = 1 << 22
SLACK = 1e-9  # radians by which the range of angles is widened before pairs are tested


@on_cpu
def random_geometric(n: int, radius: float, seed: int = 0, *, dim: int = 2) -> tuple[Graph, Tensor]:
    """`n` random points of the unit cube of `dim` dimensions, joined where they are at most `radius` apart (Euclidean
    distance): the graph, and the points, float64 [n, dim].

    Gilbert, "Random plane networks", 1961. Points are sorted into cells as wide as the radius, and compared with points
    of neighbouring cells: O(n + m) where cells have few points. Another `seed` gives other points. Raises ArgumentError
    for a radius that is not positive or dim < 1.

    >>> graph, points = tg.generators.random_geometric(100, 0.2, seed=1)
    >>> source, target = graph.to_edge_index()
    >>> round(float((points[source] - points[target]).norm(dim=1).max()), 1)
    0.2
    """
    n, dim = check_count(n, "n"), check_count(dim, "dim", 1)
    if not radius > 0:
        raise ArgumentError(f"radius: {radius} is not positive")
    points = random.uniform(random.key(seed, VERTICES), torch.arange(n * dim)).reshape(n, dim)
    side = max(1, min(math.floor(1 / radius), int(max(n, 1) ** (1 / dim))))
    cell = (points * side).to(torch.int64).clamp_(max=side - 1)
    strides = (side + 2) ** torch.arange(dim)  # with a border of empty cells, so that neighbours do not wrap around
    code = ((cell + 1) * strides).sum(1)
    sorted_code, order = code.sort(stable=True)
    src, dst = [], []
    for step in itertools.product((-1, 0, 1), repeat=dim):
        shift = int((torch.tensor(step) * strides).sum())
        if shift < 0:
            continue  # found from the neighbour
        low = torch.searchsorted(sorted_code, sorted_code + shift)
        high = torch.searchsorted(sorted_code, sorted_code + shift, right=True)
        if shift == 0:
            low = torch.arange(1, n + 1)  # later points of the same cell
        for a, b in _pairs(low, high):
            u, v = order[a], order[b]
            apart = points[u] - points[v]
            square = torch.zeros(len(u), dtype=torch.float64)
            for column in apart.unbind(1):
                square = square + column * column
            near = square <= radius * radius
            src.append(u[near])
            dst.append(v[near])
    return simple(_joined(src), _joined(dst), n, seed=seed), points


@on_cpu
def hyperbolic(n: int, degree: float = 10.0, exponent: float = 3.0, seed: int = 0) -> tuple[Graph, Tensor]:
    """`n` random points of a hyperbolic disk, joined where they are at most its radius apart: the graph, and the radius
    and the angle of each point, float64 [n, 2].

    Krioukov, Papadopoulos, Kitsak, Vahdat and Boguñá, Physical Review E 2010: a scale-free graph with many triangles, a
    power law of degrees with this `exponent` > 2, and about the average `degree`. Points are sorted by angle in rings,
    and compared with points of each ring in the range of angles that may be near (von Looz, Meyerhenke and Prutkin,
    ISAAC 2015). Another `seed` gives other points. Raises ArgumentError for an exponent <= 2 or a degree <= 0.

    >>> graph, points = tg.generators.hyperbolic(500, degree=8, seed=1)
    >>> graph.num_vertices, points.shape
    (500, torch.Size([500, 2]))
    """
    n = check_count(n, "n")
    if not exponent > 2 or not degree > 0:
        raise ArgumentError(f"exponent, degree: {exponent} and {degree}; give an exponent > 2 and a positive degree")
    alpha = (exponent - 1) / 2
    xi = alpha / (alpha - 0.5)
    disk = max(2 * float(exact.log(np.array([max(2 * n * xi * xi / (math.pi * degree), 1.0)]))[0]), 1.0)
    drawn = random.uniform(random.key(seed, VERTICES), torch.arange(2 * n)).numpy()
    cosh = lambda x: (exact.exp(x) + exact.exp(-x)) / 2  # noqa: E731
    height = 1 + drawn[:n] * (float(cosh(np.array([alpha * disk]))[0]) - 1)
    radius = exact.log(height + np.sqrt(height * height - 1)) / alpha
    cosine, sine = exact.cosine_and_sine(drawn[n:])
    point = {"cosh": cosh(radius), "cos": cosine, "sin": sine}
    point["sinh"] = np.sqrt(point["cosh"] * point["cosh"] - 1)
    limit = float(cosh(np.array([disk]))[0])
    angle = drawn[n:] * (2 * math.pi)
    src, dst = [], []
    order = np.lexsort((angle, _ring(radius, disk)))
    rings = np.searchsorted(_ring(radius, disk)[order], np.arange(int(disk) + 3))
    for ring in range(len(rings) - 1):
        members = order[rings[ring] : rings[ring + 1]]
        if not len(members):
            continue
        inner = order[rings[ring] :]  # a pair is found from its point in the outer ring, or in the same one
        for low, high in _angular_ranges(radius[inner], radius[members].min(), angle[inner], angle[members], disk):
            for a, b in _pairs(torch.from_numpy(low), torch.from_numpy(high)):
                u, v = inner[a.numpy()], members[b.numpy()]
                # cosh of the distance, by the law of cosines
                turned = point["cos"][u] * point["cos"][v] + point["sin"][u] * point["sin"][v]
                far = point["cosh"][u] * point["cosh"][v] - point["sinh"][u] * point["sinh"][v] * turned
                near = far <= limit
                src.append(torch.from_numpy(u[near]))
                dst.append(torch.from_numpy(v[near]))
    coordinates = torch.from_numpy(np.stack((radius, angle), axis=1))
    return simple(_joined(src), _joined(dst), n, seed=seed), coordinates


def _ring(radius: NDArray, disk: float) -> NDArray:
    """The ring of each point: 0 for the inner half of the disk, and rings of width 1 outside."""
    return np.ceil(np.maximum(radius - disk / 2, 0)).astype(np.int64)


def _angular_ranges(
    radius: NDArray, least: float, angle: NDArray, sorted_angles: NDArray, disk: float
) -> list[tuple[NDArray, NDArray]]:
    """For each point, ranges low..high - 1 of candidates in a ring, sorted by angle and at least `least` from the
    centre: no other point is near. The SLACK covers rounding in library functions."""
    reach = np.full(len(radius), math.pi)
    r = np.maximum(radius, 1e-12)
    if least > 0:
        cosine = (np.cosh(r) * math.cosh(least) - math.cosh(disk)) / (np.sinh(r) * math.sinh(least))
        reach = np.where(cosine <= -1, math.pi, np.arccos(np.clip(cosine, -1, 1)) + SLACK)
    reach = np.minimum(reach, math.pi)
    ranges = []
    for turn in (-2 * math.pi, 0.0, 2 * math.pi):
        low = np.searchsorted(sorted_angles, angle + turn - reach)
        high = np.searchsorted(sorted_angles, angle + turn + reach, side="right")
        ranges.append((low, high))
    return ranges


def _pairs(low: Tensor, high: Tensor) -> list[tuple[Tensor, Tensor]]:
    """All (i, j) with low[i] <= j < high[i], in parts of bounded size."""
    count = (high - low).clamp(min=0)
    bounds = torch.searchsorted(count.cumsum(0), torch.arange(0, int(count.sum()) + PAIRS_AT_ONCE, PAIRS_AT_ONCE))
    parts = []
    for first, last in itertools.pairwise([*bounds.tolist(), len(count)]):
        here = count[first:last]
        row = torch.repeat_interleave(torch.arange(first, last), here)
        start = torch.repeat_interleave(here.cumsum(0) - here, here)
        parts.append((row, low[row] + torch.arange(len(row)) - start))
    return parts


def _joined(parts: list[Tensor]) -> Tensor:
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.int64)
