"""Centralities by degrees and by walks: of numbers that all vertices send to their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

import tgraph as tg
from bench.arrays import DAMPING, Description
from bench.kernels import BLOCKS
from bench.library import Row, close
from bench.library.centrality import near, networkit, scaled

SURFERS, ACCURATE = 16, 1e-9


def surfers(description: Description) -> list[Any]:
    """Where 16 surfers start, one vertex each."""
    random = np.random.default_rng(0)
    return [tuple(random.choice(description.num_vertices, SURFERS, replace=False).tolist())] * BLOCKS


def our_ranks(system: Any, chosen: tuple[int, ...]) -> Any:
    start = torch.zeros(system.graph.num_vertices, SURFERS, dtype=torch.float64)
    start[list(chosen), range(SURFERS)] = 1
    return tg.algorithms.pagerank(
        system.graph,
        personalization=start,
        tol=ACCURATE,
        max_iterations=1000,
        dtype=torch.float64,
        method="gauss-seidel",
    )


def igraph_ranks(system: Any, chosen: tuple[int, ...]) -> Any:
    """One after the other: it takes one distribution of starts at a time."""
    return [system.graph.personalized_pagerank(reset_vertices=vertex, damping=DAMPING) for vertex in chosen]


def scipy_ranks(system: Any, chosen: tuple[int, ...]) -> np.ndarray:
    """Power iteration, all at once. A surfer without a way on starts anew, as ours does."""
    if not hasattr(system, "received_exactly"):
        offset, neighbors, _ = system.arrays.reverse()
        system.received_exactly = system.build(np.ones(len(neighbors)), neighbors, offset)
    received: csr_array = system.received_exactly
    degree = system.arrays.degree
    share, ends = 1 / np.maximum(degree, 1)[:, None], degree == 0
    start = np.zeros((system.n, SURFERS))
    start[list(chosen), range(SURFERS)] = 1
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


def attenuation(system: Any) -> float:
    """What a step of a walk counts, small enough on every graph: networkit's choice."""
    degree = system.graph.in_degree if isinstance(system.graph, tg.Graph) else system.arrays.degree
    return 1 / (int(degree.max()) + 1)


def our_katz(system: Any, _: Any) -> Any:
    return tg.algorithms.katz(system.graph, alpha=attenuation(system), tol=1e-10, normalized=False)


def networkit_katz(system: Any, _: Any) -> Any:
    import networkit as nk

    return nk.centrality.KatzCentrality(system.graph, attenuation(system), 1.0, 1e-10).run().scores()


def rustworkx_katz(system: Any, _: Any) -> Any:
    import rustworkx

    return rustworkx.katz_centrality(system.graph, alpha=attenuation(system), tol=1e-10)


def same_walks(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Ours is K, networkit's (1 + beta) K - 1 for its beta = 1 and rustworkx's K, scaled to norm 1 by both."""
    theirs = np.asarray(theirs)
    other = 2 * ours - 1
    candidates = ours / np.linalg.norm(ours), other / np.linalg.norm(other)
    close(min(candidates, key=lambda expected: np.abs(expected - theirs).max()), theirs)


def by_vertex(values: Any) -> np.ndarray:
    return np.asarray([values[vertex] for vertex in range(len(values))])


def rustworkx_degree(system: Any, _: Any) -> Any:
    import rustworkx

    return rustworkx.degree_centrality(system.graph)


def as_shares(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Degrees, or these divided by the number of other vertices."""
    theirs = np.asarray(theirs, dtype=np.float64)
    close(ours, theirs / (len(ours) - 1) if theirs.max() > 1 else theirs)


LARGEST = {"rustworkx": 1 << 22}

ROWS = {
    "degree": Row(
        "degree centrality",
        {
            "tgraph": lambda system, _: tg.algorithms.degree_centrality(system.graph),
            "networkit": networkit("DegreeCentrality", False, True, False),
            "igraph": lambda system, _: system.graph.degree(),
            "rustworkx": rustworkx_degree,
        },
        read={"rustworkx": by_vertex},
        agree=as_shares,
        directed=False,
        largest=LARGEST,
    ),
    "laplacian": Row(
        "Laplacian centrality",
        {
            "tgraph": lambda system, _: tg.algorithms.laplacian_centrality(system.graph, normalized=False),
            "networkit": networkit("LaplacianCentrality", False),
        },
        agree=close,
        directed=False,
    ),
    "katz": Row(
        "Katz centrality",
        {"tgraph": our_katz, "networkit": networkit_katz, "rustworkx": rustworkx_katz},
        read={"rustworkx": by_vertex},
        agree=same_walks,
        directed=False,
        largest=LARGEST,
    ),
    "hubs": Row(
        "hubs and authorities (igraph: hubs alone)",
        {
            "tgraph": lambda system, _: tg.algorithms.hits(system.graph, tol=1e-9, dtype=torch.float64)[0],
            "igraph": lambda system, _: system.graph.hub_score(),
        },
        read={"tgraph": scaled, "igraph": scaled},
        agree=near,
        directed=True,
    ),
    "personalized": Row(
        f"personalised PageRank of {SURFERS} sources",
        {"tgraph": our_ranks, "igraph": igraph_ranks, "scipy": scipy_ranks},
        read={"igraph": lambda found: np.asarray(found).T},
        agree=same_ranks,
        arguments=surfers,
    ),
}
