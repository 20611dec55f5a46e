"""Centralities by degrees and by walks: of numbers that all vertices send to their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

import tgraph as tg
from bench.arrays import DAMPING
from bench.library import Call, Row, by_vertex, close, drawn, method
from bench.library.centrality import near, scaled

SURFERS, ACCURATE = 16, 1e-9


def our_ranks(system: Any, chosen: list[int]) -> Any:
    start = torch.zeros(system.graph.num_vertices, SURFERS, dtype=torch.float64)
    start[chosen, range(SURFERS)] = 1
    options = {"tol": ACCURATE, "max_iterations": 1000, "dtype": torch.float64, "method": "gauss-seidel"}
    return tg.algorithms.pagerank(system.graph, personalization=start, **options)


def igraph_ranks(system: Any, chosen: list[int]) -> Any:
    """One after the other: it takes one distribution of starts at a time."""
    return [system.graph.personalized_pagerank(reset_vertices=vertex, damping=DAMPING) for vertex in chosen]


def scipy_ranks(system: Any, chosen: list[int]) -> np.ndarray:
    """Power iteration, all at once. A surfer without a way on starts anew, as ours does."""
    if not hasattr(system, "received_exactly"):
        offset, neighbors, _ = system.arrays.reverse()
        system.received_exactly = system.build(np.ones(len(neighbors)), neighbors, offset)
    received: csr_array = system.received_exactly
    degree = system.arrays.degree
    share, ends = 1 / np.maximum(degree, 1)[:, None], degree == 0
    start = np.zeros((system.n, SURFERS))
    start[chosen, range(SURFERS)] = 1
    rank = start
    while True:
        kept = DAMPING * (received @ (rank * share))
        following = kept + start * (1 - DAMPING + DAMPING * rank[ends].sum(axis=0))
        if np.abs(following - rank).sum(axis=0).max() <= ACCURATE:
            return following
        rank = following


def same_ranks(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Ranks that each iteration approaches, of single starts: one off by a millionth of all is wrong."""
    close(np.asarray(ours), np.where(np.abs(ours - theirs) < 1e-6, ours, theirs))


def katz(name: str, *arguments: float, **options: Any) -> Any:
    """Katz centrality whose steps count little enough on every graph: networkit's choice."""

    def call(system: Any, _: Any) -> Any:
        degree = system.graph.in_degree if system.name == "tgraph" else system.arrays.degree
        alpha = 1 / (int(degree.max()) + 1)
        given = {} if system.name == "networkit" else {"alpha": alpha}
        before = (alpha,) if system.name == "networkit" else ()
        return Call(name, *before, *arguments, **given, **options).bound(system)(None)

    return call


def same_walks(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Ours is K, networkit's (1 + beta) K - 1 for its beta = 1 and rustworkx's K, scaled to norm 1 by both."""
    theirs = np.asarray(theirs)
    other = 2 * ours - 1
    candidates = ours / np.linalg.norm(ours), other / np.linalg.norm(other)
    close(min(candidates, key=lambda expected: np.abs(expected - theirs).max()), theirs)


def as_shares(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Degrees, or these divided by the number of other vertices."""
    theirs = np.asarray(theirs, dtype=np.float64)
    close(ours, theirs / (len(ours) - 1) if theirs.max() > 1 else theirs)


SLOW = {"rustworkx": 1 << 22}  # arcs

ROWS = {
    "degree": Row(
        "degree centrality",
        {
            "tgraph": "degree_centrality",
            "networkit": Call("centrality.DegreeCentrality", False, True, False),
            "igraph": "degree",
            "rustworkx": "degree_centrality",
        },
        read={"networkit": method("scores"), "rustworkx": by_vertex},
        agree=as_shares,
        directed=False,
        largest=SLOW,
    ),
    "laplacian": Row(
        "Laplacian centrality",
        {
            "tgraph": Call("laplacian_centrality", normalized=False),
            "networkit": Call("centrality.LaplacianCentrality", False),
        },
        read={"networkit": method("scores")},
        agree=close,
        directed=False,
    ),
    "katz": Row(
        "Katz centrality",
        {
            "tgraph": katz("katz", tol=1e-10, normalized=False),
            "networkit": katz("centrality.KatzCentrality", 1.0, 1e-10),
            "rustworkx": katz("katz_centrality", tol=1e-10),
        },
        read={"networkit": method("scores"), "rustworkx": by_vertex},
        agree=same_walks,
        directed=False,
        largest=SLOW,
    ),
    "hubs": Row(
        "hubs and authorities (igraph: hubs alone)",
        {"tgraph": Call("hits", tol=1e-9, dtype=torch.float64), "igraph": "hub_score"},
        read={"tgraph": lambda found: scaled(found[0]), "igraph": scaled},
        agree=near,
        directed=True,
    ),
    "personalized": Row(
        f"personalised PageRank of {SURFERS} sources",
        {"tgraph": our_ranks, "igraph": igraph_ranks, "scipy": scipy_ranks},
        read={"igraph": lambda found: np.asarray(found).T},
        agree=same_ranks,
        arguments=drawn(SURFERS),
    ),
}
