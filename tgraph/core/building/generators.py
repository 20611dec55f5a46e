"""Synthetic graphs: R-MAT and uniform random graphs as the GAP benchmark suite has them, and grids.

The same arguments give the same graph on every machine and with every version of the libraries: edge i is a function
of the seed and of i alone, through the counter-based generator of `core/random.py`.

As GAP's builder does, self-loops and parallel edges are dropped, so that a random graph has somewhat fewer edges than
`edge_factor` per vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.core.random import Words
from tgraph.errors import ArgumentError

# Probabilities of the upper left, upper right and lower left quadrant (the Graph500 and GAP parameters), accumulated:
# the quadrant of a draw is the number of bounds that it reaches. Bounds lie in the upper 32 bits of a 64-bit word.
RMAT_BOUNDS = [np.uint64(round(p * 2**32) << 32) for p in (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19)]

MAX_SCALE = 31
MAX_WEIGHT = 255
CHUNK = 1 << 15  # edges whose temporaries fit the second-level cache

# What a draw is for; each purpose has a random stream of its own.
EDGES, SHUFFLE, WEIGHTS = 0, 1, 2


def rmat(scale: int, edge_factor: int = 16, seed: int = 0, *, directed: bool = False, weighted: bool = False) -> Graph:
    """A scale-free graph of `2**scale` vertices and about `edge_factor * 2**scale` edges, vertex ids shuffled.

    R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004) with a, b, c = 0.57, 0.19, 0.19: the graphs called "kron" in
    GAP and Graph500. Another `seed` gives another graph; `directed` edges point one way; `weighted` ones have int32
    weights in 1..255. Raises ArgumentError for a scale outside 0..31 or a negative edge_factor.
    """
    count = _count_edges(scale, edge_factor)
    key = random.key(seed, EDGES)
    shuffled = np.argsort(random.stretch(random.key(seed, SHUFFLE), 0, 2**scale), kind="stable")

    def edges(first: int, last: int) -> tuple[NDArray, NDArray]:
        src, dst = _rmat_edges(key, scale, first, last)
        return shuffled[src.view(np.int64)], shuffled[dst.view(np.int64)]

    src, dst = _in_chunks(edges, count)
    return _build(src, dst, 2**scale, seed, directed, weighted)


def uniform(
    scale: int, edge_factor: int = 16, seed: int = 0, *, directed: bool = False, weighted: bool = False
) -> Graph:
    """A graph of `2**scale` vertices and about `edge_factor * 2**scale` edges, whose ends are uniformly random.

    Erdős and Rényi, "On random graphs I", 1959; GAP's "urand". Another `seed` gives another graph; `directed` edges
    point one way; `weighted` ones have int32 weights in 1..255. Raises ArgumentError for a scale outside 0..31 or a
    negative edge_factor.
    """
    count = _count_edges(scale, edge_factor)
    key = random.key(seed, EDGES)
    src, dst = _in_chunks(lambda first, last: _uniform_edges(key, scale, first, last), count)
    return _build(src, dst, 2**scale, seed, directed, weighted)


def grid2d(rows: int, columns: int, *, seed: int = 0, weighted: bool = False) -> Graph:
    """The undirected grid in which vertex `row * columns + column` is joined to its up to four neighbours.

    Its diameter is `rows + columns - 2`, which makes it the opposite of a random graph. `weighted` edges have int32
    weights in 1..255, drawn from `seed`. Raises ArgumentError for a negative number of rows or columns.
    """
    if rows < 0 or columns < 0:
        raise ArgumentError(f"rows, columns: {rows} x {columns} is no grid; both must be 0 or more")
    vertex = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    src = np.concatenate((vertex[:, :-1].ravel(), vertex[:-1].ravel()))
    dst = np.concatenate((vertex[:, 1:].ravel(), vertex[1:].ravel()))
    return _build(src, dst, rows * columns, seed, False, weighted)


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


def _uniform_edges(key: int, scale: int, first: int, last: int) -> tuple[Words, Words]:
    """Edges first..last - 1: the source from the upper half of a random word, the target from the lower."""
    word = random.stretch(key, first, last)
    unused = np.uint64(32 - scale)
    return word >> np.uint64(32) >> unused, (word & np.uint64(0xFFFFFFFF)) >> unused


def _pair_weights(key: int, src: Tensor, dst: Tensor, directed: bool) -> Tensor:
    """A weight for every pair of ends: parallel edges agree, and so do both directions of an undirected one."""
    from_, to = (src, dst) if directed else (torch.minimum(src, dst), torch.maximum(src, dst))
    pair = (from_ << 32 | to).numpy().view(np.uint64)
    weights = np.empty(len(pair), dtype=np.int32)

    def fill(first: int, last: int) -> None:
        upper = random.mix(pair[first:last] * random.GOLDEN + np.uint64(key % 2**64)) >> np.uint64(32)
        weights[first:last] = 1 + (upper * np.uint64(MAX_WEIGHT) >> np.uint64(32))

    _for_chunks(fill, len(pair))
    return torch.from_numpy(weights)


def _build(src: NDArray, dst: NDArray, num_vertices: int, seed: int, directed: bool, weighted: bool) -> Graph:
    ends = torch.from_numpy(src), torch.from_numpy(dst)
    weights = _pair_weights(random.key(seed, WEIGHTS), *ends, directed) if weighted else None
    return Graph.from_edges(
        *ends, weights, num_vertices=num_vertices, directed=directed, multi="first", self_loops="drop"
    )


def _in_chunks(edges: Callable[[int, int], tuple[NDArray, NDArray]], count: int) -> NDArray[np.int64]:
    """Both ends, [2, count], of edges that are generated a range at a time."""
    ends = np.empty((2, count), dtype=np.int64)

    def fill(first: int, last: int) -> None:
        ends[0, first:last], ends[1, first:last] = edges(first, last)

    _for_chunks(fill, count)
    return ends


def _for_chunks(work: Callable[[int, int], None], count: int) -> None:
    """Calls work(first, last) for consecutive ranges, on as many threads as torch uses (numpy lets them run)."""
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for done in [pool.submit(work, i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]:
            done.result()


def _count_edges(scale: int, edge_factor: int) -> int:
    if not 0 <= scale <= MAX_SCALE:
        raise ArgumentError(f"scale: {scale} is not in 0..{MAX_SCALE}; the graph has 2**scale vertices")
    if edge_factor < 0:
        raise ArgumentError(f"edge_factor: {edge_factor} is negative; give the number of edges per vertex")
    return edge_factor << scale
