"""Edges as lines on a page: bent apart where they are parallel, loops at their vertices, arrows at the rim of targets.

Lengths are in points of 1/72 inch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 24  # pieces of a curve
APART = 7.0, 14.0  # points between parallel edges: the least, and of long ones
SINGLE = 500  # of more edges, the one there and the one back share a line, which has a head at both ends
STRAIGHT = 14.0  # edges with less between the rims of their ends have no room to bend
LOOP = 20.0  # the length of a loop from the rim of its vertex
WIDE = 0.55  # the angle of a loop to each side
HEAD = 0.36  # half the width of an arrow's head, of its length


@dataclass
class Links:
    """`lines`: each edge from rim to rim, [points, 2]. `heads`: triangles [m, 3, 2], first the tip; none without
    directions."""

    lines: list[NDArray]
    heads: NDArray


def links(at: NDArray, radius: NDArray, src: NDArray, dst: NDArray, head: float) -> Links:
    """The edges src -> dst between vertices at `at` [n, 2] with the `radius` [n]; arrows have heads of length `head`,
    none where it is 0. Of an edge whose ends cover it nothing is seen."""
    control, bent = _controls(at, radius, src, dst)
    straight = _straight(at, radius, src, dst)
    lines = list(straight)
    t = np.linspace(0, 1, STEPS + 1)[:, None]
    for edge in np.flatnonzero(bent).tolist():
        a, b, c, d = control[edge]
        curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        lines[edge] = _between(curve, radius[src[edge]], radius[dst[edge]])
    if not head:
        return Links(lines, np.zeros((0, 3, 2)))
    heads = np.zeros((len(lines), 3, 2))
    for edge, line in enumerate(lines):  # lines end at the base of the head, which is pointed
        lines[edge] = _headless(line, head)
        tip, base = line[-1], lines[edge][-1]
        aside = (tip - base)[::-1] * (-HEAD, HEAD)
        heads[edge] = tip, base + aside, base - aside
    return Links(lines, heads)


def loop_room(radius: NDArray, src: NDArray, dst: NDArray) -> float:
    """How far loops reach from the centres of their vertices."""
    own = src[src == dst]
    return 0.0 if not len(own) else float(radius[own].max() + LOOP * np.bincount(own).max() ** 0.5)


def parallel(src: NDArray, dst: NDArray, n: int) -> tuple[NDArray, NDArray, NDArray]:
    """(the rank of each edge among those between the same two vertices, how many these are, and how far aside it goes:
    ..., -1, 1, ... of two, 0 of one), int64 [m] each."""
    _, pair, count = np.unique(np.minimum(src, dst) * n + np.maximum(src, dst), return_inverse=True, return_counts=True)
    order = np.argsort(pair, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    times = count[pair]
    aside = 2 * rank - (times - 1)
    if len(src) > SINGLE:
        upwards = np.bincount(pair, weights=src < dst, minlength=len(count))
        aside[(times == 2) & (upwards[pair] == 1)] = 0
    return rank, times, aside


def free_angle(at: NDArray, src: NDArray, dst: NDArray, vertex: int) -> float:
    """The middle of the widest gap between the edges of a vertex, upwards without any."""
    ends = np.concatenate((dst[(src == vertex) & (dst != vertex)], src[(dst == vertex) & (src != vertex)]))
    ways = at[ends] - at[vertex]
    angle = np.sort(np.arctan2(ways[:, 1], ways[:, 0]))
    gaps = np.diff(np.append(angle, angle[:1] + 2 * np.pi))
    return float(angle[gaps.argmax()] + gaps.max() / 2) if len(gaps) else np.pi / 2


def _controls(at: NDArray, radius: NDArray, src: NDArray, dst: NDArray) -> tuple[NDArray, NDArray]:
    """(the control points of each edge, a cubic of Bezier, [m, 4, 2]; mask of those that are bent)."""
    rank, times, share = parallel(src, dst, len(at))
    chord = at[np.maximum(src, dst)] - at[np.minimum(src, dst)]
    length = np.hypot(*chord.T)
    aside = np.stack((-chord[:, 1], chord[:, 0]), 1) / np.maximum(length, 1e-9)[:, None]
    step = np.minimum(np.clip(0.06 * length, *APART) / 2, 0.25 * length / np.maximum(times - 1, 1))
    room = length - radius[src] - radius[dst] > STRAIGHT
    offset = np.where(room, share * step, 0)[:, None] * aside * (4 / 3)
    way = at[dst] - at[src]
    control = np.stack((at[src], at[src] + way / 3 + offset, at[dst] - way / 3 + offset, at[dst]), 1)
    for edge in np.flatnonzero(src == dst).tolist():
        sides = free_angle(at, src, dst, src[edge]) + np.array((WIDE, -WIDE))
        reach = (radius[src[edge]] + LOOP * (rank[edge] + 1) ** 0.5) * 4 / 3
        control[edge, 1:3] += reach * np.stack((np.cos(sides), np.sin(sides)), 1)
    return control, (src == dst) | (np.abs(offset).max(1, initial=0) > 0)


def _straight(at: NDArray, radius: NDArray, src: NDArray, dst: NDArray) -> NDArray:
    """Lines from rim to rim, [m, 2, 2], without length between vertices that touch."""
    way = at[dst] - at[src]
    length = np.hypot(*way.T)
    unit = way / np.maximum(length, 1e-9)[:, None]
    first = np.minimum(radius[src], length)
    last = np.maximum(length - radius[dst], first)
    return at[src][:, None] + unit[:, None] * np.stack((first, last), 1)[:, :, None]


def _between(curve: NDArray, first: float, last: float) -> NDArray:
    """The part of a curve outside of the circles about its ends, with its ends on their rims."""
    start, end = curve[0], curve[-1]
    outside = np.flatnonzero((np.hypot(*(curve - start).T) > first) & (np.hypot(*(curve - end).T) > last))
    inner = curve[outside[0] : outside[-1] + 1]
    return np.concatenate((_towards(start, inner[0], first)[None], inner, _towards(end, inner[-1], last)[None]))


def _towards(start: NDArray, end: NDArray, distance: float) -> NDArray:
    """The point at a `distance` from the start in the direction of the end."""
    return start + (end - start) * (distance / max(float(np.hypot(*(end - start))), 1e-9))


def _headless(line: NDArray, head: float) -> NDArray:
    """A line up to the base of an arrow's head at its end, of which it takes at most a part."""
    far = np.hypot(*(line - line[-1]).T)
    head = min(head, 0.6 * float(far.max()))
    last = int(np.flatnonzero(far >= head)[-1])
    return np.concatenate((line[: last + 1], _towards(line[-1], line[last], head)[None]))
