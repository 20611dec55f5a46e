"""Centralities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tgraph as tg
from bench.arrays import Description
from bench.kernels import BLOCKS
from bench.library import Row, close
from bench.verify import require

EPSILON = 0.01  # of estimates of betweenness


def some(description: Description) -> list[tuple[int, ...]]:
    return [tuple(range(min(64, description.num_vertices)))] * BLOCKS


def few(description: Description) -> list[tuple[int, ...]]:
    return [tuple(description.sources)] * BLOCKS


def igraph_weighted(system: Any, chosen: tuple[int, ...]) -> Any:
    if "weight" not in system.graph.es.attributes():
        system.prepare()
    return system.graph.betweenness(sources=list(chosen), directed=False, weights="weight")


def per_edge(system: Any, chosen: tuple[int, ...]) -> Any:
    scores = tg.algorithms.edge_betweenness(system.graph, list(chosen), normalized=False)
    return scores, system.graph


def once(found: Any) -> np.ndarray:
    """The scores of the edges, each once, in the order in which igraph was given them."""
    scores, graph = found
    source = np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy())
    return scores.numpy()[source < graph.neighbors.numpy()]


def scaled(scores: object) -> np.ndarray:
    values = np.asarray(scores, dtype=np.float64)
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


def networkit(name: str, *arguments: float) -> Callable[[Any, Any], Any]:
    """A centrality of networkit."""

    def call(system: Any, _: Any) -> Any:
        import networkit

        return getattr(networkit.centrality, name)(system.graph, *arguments).run().scores()

    return call


ROWS = {
    "closeness": Row(
        "closeness of 64 vertices",
        {
            "tgraph": lambda system, chosen: tg.algorithms.closeness(system.graph, chosen, wf_improved=False),
            "igraph": lambda system, chosen: system.graph.closeness(chosen),
        },
        read={"igraph": lambda found: np.nan_to_num(np.asarray(found))},
        agree=close,
        directed=False,
        arguments=some,
    ),
    "harmonic": Row(
        "harmonic centrality of 64 vertices",
        {
            "tgraph": lambda system, chosen: tg.algorithms.harmonic(system.graph, chosen),
            "igraph": lambda system, chosen: system.graph.harmonic_centrality(chosen),
        },
        agree=up_to_a_factor,
        directed=False,
        arguments=some,
    ),
    "edge-betweenness": Row(
        "edge betweenness from three sources",
        {
            "tgraph": per_edge,
            "igraph": lambda system, chosen: system.graph.edge_betweenness(directed=False, sources=list(chosen)),
        },
        read={"tgraph": once},
        agree=close,
        directed=False,
        arguments=few,
    ),
    "weighted-betweenness": Row(
        "betweenness over weights from three sources",
        {
            "tgraph": lambda system, chosen: tg.algorithms.betweenness(
                system.weighted, list(chosen), normalized=False, weighted=True
            ),
            "igraph": igraph_weighted,
        },
        agree=close,
        directed=False,
        arguments=few,
    ),
    "eigenvector": Row(
        "eigenvector centrality",
        {
            "tgraph": lambda system, _: tg.algorithms.eigenvector(
                system.graph, tol=1e-9 / system.graph.num_vertices, max_iterations=10_000
            ),
            "networkit": networkit("EigenvectorCentrality", 1e-9),
        },
        read={"tgraph": scaled, "networkit": scaled},
        agree=near,
        directed=False,
    ),
    "approximate-betweenness": Row(
        "betweenness, off by at most 0.01 nine times in ten",
        {
            "tgraph": lambda system, _: tg.algorithms.approximate_betweenness(system.graph, epsilon=EPSILON, delta=0.1),
            "networkit": networkit("KadabraBetweenness", EPSILON, 0.1),
        },
        read={"networkit": lambda scores: np.asarray(scores) / 2},  # it counts each pair of vertices twice
        agree=within_both_bounds,
        directed=False,
    ),
}
