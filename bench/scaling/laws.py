"""From the volumes of graphs that were measured to those of graphs that no machine here holds.

R-MAT: what ranks exchange is expected from the model's own distribution of degrees, see `expected_volume`, and from a
law that is fitted to the measurements: total volume over arcs follows 2 ** (a + b * scale) for a partition and a number
of parts. Web graphs: total volume over arcs follows 2 ** (a + b * log2(parts) + c * log2(arcs)), fitted over a crawl
and what it would be had it ended earlier. How far the measured points lie from a law is its residual; how far the
largest graph lies from a law that was fitted without it tells what an extrapolation is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, poisson

from bench.scaling.placing import grid_rows
from tgraph.distributed.parts.partitions import HUB_ARCS

A, B, C, EDGE_FACTOR = 0.57, 0.19, 0.19, 16  # of tg.generators.rmat


@dataclass(frozen=True)
class Law:
    """y = 2 ** (x @ coefficients), x with a column of ones in front. residual, ahead : the largest distances of the
    fitted points, and of the largest graph left out, as fractions."""

    coefficients: NDArray[np.float64]
    residual: float
    ahead: float

    @classmethod
    def fit(cls, x: NDArray[np.float64], y: NDArray[np.float64], largest: NDArray[np.bool_]) -> Law:
        """x : [k, d], of k measurements. y : [k], what was measured. largest : bool [k], those of the largest graph."""
        found, before = solve(x, y), solve(x[~largest], y[~largest])
        return cls(found, distance(found, x, y), distance(before, x[largest], y[largest]))

    def at(self, *x: float) -> float:
        return float(2 ** (np.array([1.0, *x]) @ self.coefficients))


def solve(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.lstsq(with_ones(x), np.log2(y), rcond=None)[0]


def distance(coefficients: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.abs(2 ** (with_ones(x) @ coefficients) / y - 1).max())


def with_ones(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack((np.ones(len(x)), x))


def of_rmat(rows: list[dict], method: str, parts: int) -> Law:
    """Total volume over arcs, by scale."""
    chosen = [row for row in rows if (row["family"], row["method"], row["parts"]) == ("rmat", method, parts)]
    scale = np.log2([row["vertices"] for row in chosen])
    volume = np.array([row["total"] / row["arcs"] for row in chosen])
    return Law.fit(scale[:, None], volume, scale == scale.max())


def of_web(rows: list[dict], method: str, crawl: str, least: int, most: int) -> Law:
    """Total volume over arcs, by log2(parts) and log2(arcs), from `least` to `most` parts."""
    chosen = [row for row in rows if row["graph"].partition("/")[0] == crawl and row["method"] == method]
    chosen = [row for row in chosen if least <= row["parts"] <= most]
    x = np.log2([[row["parts"], row["arcs"]] for row in chosen])
    volume = np.array([row["total"] / row["arcs"] for row in chosen])
    return Law.fit(x, volume, x[:, 1] == x[:, 1].max())


def arcs_of_rmat(scale: int) -> float:
    """The arcs of rmat(scale), both directions, that are expected: a cell of the matrix has at least one of the edges
    that fall there or opposite with probability 1 - exp(-mean), and those of so many digits a, b or c, d are alike."""
    edges, total = EDGE_FACTOR * 2.0**scale, 0.0
    for first in range(scale + 1):
        for mixed in range(scale - first + 1):
            last = scale - first - mixed
            cells = factorial(scale) // (factorial(first) * factorial(mixed) * factorial(last)) * 2**mixed
            mean = 2 * edges * A**first * ((B + C) / 2) ** mixed * (1 - A - B - C) ** last
            total += cells * -np.expm1(-mean)
    return total


def expected(scale: int, ranks: int, share: Callable[[int], float] = lambda ones: 1.0) -> float:
    """The ranks, of a random `ranks` with equal shares of the arcs, that hold an arc of a vertex and do not own it,
    added up over the vertices of rmat(scale). Those with k ones in their number have the same expected degree, of which
    `share(k)` counts."""
    total = 0.0
    for ones in range(scale + 1):
        mean = share(ones) * degree(scale, ones) / ranks
        total += comb(scale, ones) * (ranks - 1) * -np.expm1(-mean)
    return total


def degree(scale: int, ones: int) -> float:
    """The edges that are expected at a vertex with so many ones in its number, parallel ones included."""
    return 2 * EDGE_FACTOR * 2.0**scale * (A + B) ** (scale - ones) * (1 - A - B) ** ones


def expected_hubs(scale: int, parts: int, largest: int) -> float:
    """What ranks exchange where the rows of vertices of more than `largest` arcs are cut: their sums, and the values of
    the vertices that have arcs to others."""
    hub = [float(poisson.sf(largest, degree(scale, ones))) for ones in range(scale + 1)]

    def to_others(ones: int) -> float:
        """Where a digit of the source is 0, that of the target is 1 with probability b / (a + b), else d / (c + d)."""
        count = np.arange(scale + 1)
        of_zeros = binom.pmf(count, scale - ones, B / (A + B))
        of_ones = binom.pmf(count, ones, (1 - A - B - C) / (1 - A - B))
        return 1 - float(np.convolve(of_zeros, of_ones)[: scale + 1] @ hub)

    sums = sum(
        comb(scale, ones) * hub[ones] * (parts - 1) * -np.expm1(-degree(scale, ones) / parts)
        for ones in range(scale + 1)
    )
    return expected(scale, parts, to_others) + sums


def expected_volume(scale: int, method: str, parts: int) -> float:
    """Total volume over arcs by the model: whole rows ("ebp"), a grid ("2d") or cut hubs ("hubs")."""
    arcs = arcs_of_rmat(scale)
    if method == "hubs":
        return expected_hubs(scale, parts, min(HUB_ARCS * parts, int(arcs) // (4 * parts))) / arcs
    if method == "2d":
        rows = grid_rows(parts)
        return (expected(scale, rows) + expected(scale, parts // rows)) / arcs
    return expected(scale, parts) / arcs
