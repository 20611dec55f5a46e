"""Similarity of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

import tgraph as tg
from bench.arrays import Description
from bench.library import Row, close

PAIRS = 100_000


def pairs(description: Description) -> list[Any]:
    """Pairs of different vertices drawn at random."""
    random, n = np.random.default_rng(0), description.num_vertices
    first, step = random.integers(n, size=PAIRS), random.integers(1, n, size=PAIRS)
    return [np.stack((first, (first + step) % n), 1)]


ROWS = {
    "jaccard": Row(
        "Jaccard similarity of 100,000 pairs",
        {
            "tgraph": lambda system, given: tg.algorithms.jaccard(system.graph, given),
            "igraph": lambda system, given: system.graph.similarity_jaccard(pairs=given.tolist(), loops=False),
        },
        agree=close,
        directed=False,
        arguments=pairs,
    ),
}
