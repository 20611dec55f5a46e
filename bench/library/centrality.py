"""Centralities by paths, and of the principal eigenvector."""

from __future__ import annotations

from typing import Any

import numpy as np

import tgraph as tg
from bench.arrays import Description
from bench.kernels import BLOCKS
from bench.library import Call, Row, close, ends, method
from bench.verify import require

EPSILON = 0.01  # of estimates of betweenness


def some(description: Description) -> list[list[int]]:
    return [list(range(min(64, description.num_vertices)))] * BLOCKS


def few(description: Description) -> list[list[int]]:
    return [description.sources] * BLOCKS


def per_edge(system: Any, chosen: list[int]) -> Any:
    return tg.algorithms.edge_betweenness(system.graph, chosen, normalized=False), system.graph


def once(found: Any) -> np.ndarray:
    """The scores of the edges, each once, in the order in which igraph was given them."""
    scores, graph = found
    source, target = ends(graph)
    return scores.numpy()[source < target]


def scaled(scores: object) -> np.ndarray:
    values = np.asarray(getattr(scores, "scores", lambda: scores)(), dtype=np.float64)
    return values / np.linalg.norm(values)


def near(ours: np.ndarray, theirs: np.ndarray) -> None:
    """The same direction, which iterations of different tolerance approach."""
    close(np.array([1.0]), np.array([ours @ theirs]))


def up_to_a_factor(ours: np.ndarray, theirs: np.ndarray) -> None:
    """The same numbers where one divides them by the number of vertices and the other does not."""
    close(ours / np.linalg.norm(ours), np.asarray(theirs) / np.linalg.norm(theirs))


def within_both_bounds(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Two estimates, each off by at most EPSILON."""
    require(np.abs(ours - theirs).max() <= 2 * EPSILON, "the estimates are farther apart than both bounds allow")


def our_eigenvector(system: Any, _: Any) -> Any:
    tolerance = 1e-9 / system.graph.num_vertices
    return tg.algorithms.eigenvector(system.graph, tol=tolerance, max_iterations=10_000)


ROWS = {
    "closeness": Row(
        "closeness of 64 vertices",
        {"tgraph": Call("closeness", wf_improved=False), "igraph": "closeness"},
        read={"igraph": lambda found: np.nan_to_num(np.asarray(found))},
        agree=close,
        directed=False,
        arguments=some,
    ),
    "harmonic": Row(
        "harmonic centrality of 64 vertices",
        {"tgraph": "harmonic", "igraph": "harmonic_centrality"},
        agree=up_to_a_factor,
        directed=False,
        arguments=some,
    ),
    "edge-betweenness": Row(
        "edge betweenness from three sources",
        {"tgraph": per_edge, "igraph": Call("edge_betweenness", by="sources", directed=False)},
        read={"tgraph": once},
        agree=close,
        directed=False,
        arguments=few,
    ),
    "weighted-betweenness": Row(
        "betweenness over weights from three sources",
        {
            "tgraph": Call("betweenness", of="weighted", normalized=False, weighted=True),
            "igraph": Call("betweenness", of="weighted", by="sources", directed=False, weights="weight"),
        },
        agree=close,
        directed=False,
        arguments=few,
    ),
    "eigenvector": Row(
        "eigenvector centrality",
        {"tgraph": our_eigenvector, "networkit": Call("centrality.EigenvectorCentrality", 1e-9)},
        read={"tgraph": scaled, "networkit": scaled},
        agree=near,
        directed=False,
    ),
    "approximate-betweenness": Row(
        "betweenness, off by at most 0.01 nine times in ten",
        {
            "tgraph": Call("approximate_betweenness", epsilon=EPSILON, delta=0.1),
            "networkit": Call("centrality.KadabraBetweenness", EPSILON, 0.1),
        },
        read={"networkit": lambda run: method("scores")(run) / 2},  # it counts each pair of vertices twice
        agree=within_both_bounds,
        directed=False,
    ),
}
