"""Similarity of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.arrays import Description
from bench.library import Row, close, nk

PAIRS = 100_000


def pairs(description: Description) -> list[Any]:
    """Pairs of different vertices drawn at random."""
    random, n = np.random.default_rng(0), description.num_vertices
    first, step = random.integers(n, size=PAIRS), random.integers(1, n, size=PAIRS)
    return [np.stack((first, (first + step) % n), 1)]


def sorted_pairs(description: Description) -> list[Any]:
    """Each once, sorted by both ends, as networkit gives their scores."""
    return [np.unique(found, axis=0) for found in pairs(description)]


def link(title: str, ours: str, name: str) -> Row:
    """A score of pairs beside that of networkit."""
    return Row(
        f"{title} of 100,000 pairs",
        {
            "tgraph": ours,
            "networkit": lambda system, given: getattr(nk.linkprediction, name)(system.graph).runOn(given.tolist()),
        },
        read={"networkit": lambda found: np.asarray([score for _, score in sorted(found)])},
        agree=close,
        directed=False,
        arguments=sorted_pairs,
    )


ROWS = {
    "adamic-adar": link("Adamic-Adar index", "adamic_adar", "AdamicAdarIndex"),
    "allocation": link("resource allocation index", "resource_allocation", "ResourceAllocationIndex"),
    "common neighbors": link("common neighbours", "common_neighbors", "CommonNeighborsIndex"),
    "jaccard": Row(
        "Jaccard similarity of 100,000 pairs",
        {
            "tgraph": "jaccard",
            "igraph": lambda system, given: system.graph.similarity_jaccard(pairs=given.tolist(), loops=False),
        },
        agree=close,
        directed=False,
        arguments=pairs,
    ),
}
