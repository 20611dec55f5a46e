"""Similarity of vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkit as nk
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


def predicted(name: str) -> Callable[[Any, Any], Any]:
    """An index of networkit, of each pair."""
    return lambda system, given: getattr(nk.linkprediction, name)(system.graph).runOn(given.tolist())


def scores(found: Any) -> np.ndarray:
    """Of each pair, in ascending order of pairs: networkit gives them so."""
    return np.asarray([score for _, score in sorted(found)])


def link(title: str, ours: Callable[..., Any], name: str) -> Row:
    """A score of pairs beside that of networkit; pairs are sorted by both ends."""
    return Row(
        f"{title} of 100,000 pairs",
        {"tgraph": lambda system, given: ours(system.graph, given), "networkit": predicted(name)},
        read={"networkit": scores},
        agree=close,
        directed=False,
        arguments=sorted_pairs,
    )


def sorted_pairs(description: Description) -> list[Any]:
    return [np.unique(found, axis=0) for found in pairs(description)]


ROWS = {
    "adamic-adar": link("Adamic-Adar index", tg.algorithms.adamic_adar, "AdamicAdarIndex"),
    "allocation": link("resource allocation index", tg.algorithms.resource_allocation, "ResourceAllocationIndex"),
    "common neighbors": link("common neighbours", tg.algorithms.common_neighbors, "CommonNeighborsIndex"),
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
