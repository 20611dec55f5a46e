"""The density of edges at each pixel of a picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLES_AT_ONCE = 1 << 22


def edge_density(points: NDArray, src: NDArray, dst: NDArray, low: NDArray, high: NDArray, pixels: int) -> NDArray:
    """A picture [height, width] of the edges between `points` in the rectangle from low to high, `pixels` wide, row 0
    at the bottom: the logarithmic density, from 0 without edges to 1. Every edge is sampled once a pixel, and a long
    one counts less at each of its pixels, so that the short edges of clusters stand out."""
    scale = pixels / (high[0] - low[0])
    height = max(1, round((high[1] - low[1]) * scale))
    total = np.zeros(height * pixels)
    start, way = (points[src] - low) * scale, (points[dst] - points[src]) * scale
    steps = np.maximum(np.ceil(np.abs(way).max(1, initial=0)), 1).astype(np.int64)
    ends = np.cumsum(steps)
    first = 0
    while first < len(src):
        last = int(np.searchsorted(ends, (ends[first - 1] if first else 0) + SAMPLES_AT_ONCE)) + 1
        count = steps[first:last]
        edge = np.repeat(np.arange(first, first + len(count)), count)
        step = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
        place = start[edge] + way[edge] * ((step + 0.5) / steps[edge])[:, None]
        x = np.clip(place[:, 0].astype(np.int64), 0, pixels - 1)
        y = np.clip(place[:, 1].astype(np.int64), 0, height - 1)
        total += np.bincount(y * pixels + x, weights=1 / np.sqrt(steps[edge]), minlength=len(total))
        first = last
    seen = total[total > 0]
    if not len(seen):
        return total.reshape(height, pixels)
    most = np.quantile(seen, 0.998)
    shade = np.log1p(total * (50 / most)) / np.log1p(50)
    return np.clip(np.where(total > 0, 0.08 + 0.92 * shade, 0), 0, 1).reshape(height, pixels)


def frame(points: NDArray) -> tuple[NDArray, NDArray]:
    """The lower left and upper right corner of a picture of the points, with an aspect ratio from 2:3 to 2:1."""
    low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(2), np.ones(2))
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-9)
    half = half + 0.05 * half.max()
    half = np.maximum(half, (half[1] / 1.5, half[0] / 2))
    return middle - half, middle + half
