"""Kronecker graphs: R-MAT as in the GAP benchmark suite, and stochastic ones of any initiator matrix.

As in GAP's builder, self-loops and parallel edges are dropped, so that a graph has somewhat fewer edges than
`edge_factor` per vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.core.random import Words
from tgraph.errors import ArgumentError
from tgraph.generators.chunks import in_chunks
from tgraph.generators.simple import EDGES, SHUFFLE, check_count, on_cpu, simple

# Running sums of the probabilities of the upper left, upper right and lower left quadrant (Graph500 and GAP): the
# quadrant of a draw is the number of bounds that it reaches. Bounds are in the upper 32 bits of a 64-bit word.
RMAT_BOUNDS = [np.uint64(round(p * 2**32) << 32) for p in (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19)]

MAX_SCALE = 31


@on_cpu
def rmat(scale: int, edge_factor: int = 16, seed: int = 0, *, directed: bool = False, weighted: bool = False) -> Graph:
    """A scale-free graph of `2**scale` vertices and about `edge_factor * 2**scale` edges, vertex ids shuffled.

    R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004) with a, b, c = 0.57, 0.19, 0.19: the graphs called "kron" in
    GAP and Graph500. Another `seed` gives another graph; `directed` edges point one way; `weighted` ones have int32
    weights in 1..255. Raises ArgumentError for a scale outside 0..31 or a negative edge_factor.

    >>> graph = tg.generators.rmat(10, weighted=True)
    >>> graph.num_vertices, graph.weight_range
    (1024, (1, 255))
    """
    count = count_edges(scale, edge_factor)
    key = random.key(seed, EDGES)
    shuffled = np.argsort(random.stretch(random.key(seed, SHUFFLE), 0, 2**scale), kind="stable")

    def edges(first: int, last: int) -> tuple[NDArray, NDArray]:
        src, dst = _rmat_edges(key, scale, first, last)
        return shuffled[src.view(np.int64)], shuffled[dst.view(np.int64)]

    src, dst = in_chunks(edges, count)
    return simple(src, dst, 2**scale, directed=directed, seed=seed, weighted=weighted)


@on_cpu
def kronecker(initiator: Any, power: int, num_edges: int, seed: int = 0, *, directed: bool = False) -> Graph:
    """The stochastic Kronecker graph of k**power vertices from a nonnegative `initiator` [k, k].

    Leskovec, Chakrabarti, Kleinberg, Faloutsos and Ghahramani, JMLR 2010: each of `num_edges` edges descends `power`
    times into one of the k * k cells with probability proportional to the initiator; `directed` edges point one way,
    and another `seed` gives another graph. Raises ArgumentError for an initiator that is not square, has a negative or
    no positive number, or gives more than 2**31 vertices.

    >>> graph = tg.generators.kronecker([[0.9, 0.5], [0.5, 0.1]], 6, 200)
    >>> graph.num_vertices
    64
    """
    cells = np.asarray(initiator, dtype=np.float64)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not (cells >= 0).all() or not 0 < cells.sum() < np.inf:
        raise ArgumentError(f"initiator: expected [k, k] numbers of 0 or more, not all 0, got {cells.tolist()}")
    k, power, num_edges = len(cells), check_count(power, "power"), check_count(num_edges, "num_edges")
    if k**power > 2**MAX_SCALE:
        raise ArgumentError(f"power: {k}**{power} vertices are more than 2**{MAX_SCALE}; give a smaller one")
    bounds = (cells.cumsum() / cells.cumsum()[-1])[:-1]
    key = random.key(seed, EDGES)

    def edges(first: int, last: int) -> tuple[NDArray, NDArray]:
        ends = np.zeros((2, last - first), dtype=np.int64)
        for level in range(power):
            drawn = random.stretch(key, first * power + level, last * power, step=power) >> np.uint64(11)
            cell = np.searchsorted(bounds, drawn * 2.0**-53, side="right")
            ends = ends * k + np.stack(divmod(cell, k))
        return ends[0], ends[1]

    src, dst = in_chunks(edges, num_edges)
    return simple(src, dst, k**power, directed=directed, seed=seed)


def _rmat_edges(key: int, scale: int, first: int, last: int) -> tuple[Words, Words]:
    """Edges first..last - 1: one quadrant per level, two levels per random word."""
    words_per_edge = (scale + 1) // 2
    quadrants = np.zeros(last - first, dtype=np.uint64)  # two bits a level: the source's, then the target's
    for level in range(scale):
        if level % 2 == 0:
            word = random.stretch(key, first * words_per_edge + level // 2, last * words_per_edge, step=words_per_edge)
        else:
            word <<= np.uint64(32)
        quadrant = sum((word >= bound).view(np.uint8) for bound in RMAT_BOUNDS)
        quadrants <<= np.uint64(2)
        quadrants |= quadrant
    return _even_bits(quadrants >> np.uint64(1)), _even_bits(quadrants)


def _even_bits(word: Words) -> Words:
    """Bits 0, 2, 4, ... of every word, moved together (Warren, Hacker's Delight, section 7-2)."""
    word = word & np.uint64(0x5555555555555555)
    for shift, mask in (
        (1, 0x3333333333333333),
        (2, 0x0F0F0F0F0F0F0F0F),
        (4, 0x00FF00FF00FF00FF),
        (8, 0x0000FFFF0000FFFF),
        (16, 0x00000000FFFFFFFF),
    ):
        word = (word | word >> np.uint64(shift)) & np.uint64(mask)
    return word


def count_edges(scale: int, edge_factor: int) -> int:
    """The number of edges to draw for 2**scale vertices. Raises ArgumentError for arguments out of range."""
    if not 0 <= scale <= MAX_SCALE:
        raise ArgumentError(f"scale: {scale} is not in 0..{MAX_SCALE}; the graph has 2**scale vertices")
    if edge_factor < 0:
        raise ArgumentError(f"edge_factor: {edge_factor} is negative; give the number of edges per vertex")
    return edge_factor << scale
