"""Algorithms for small graphs: the vertices nearest to a source, and the edges between them, without directions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.sparse import csgraph, csr_array

import tgraph as tg
from bench.arrays import Arrays, Description
from bench.kernels import BLOCKS
from bench.library import Call, Row, close, of_arrays

VERTICES = 400


def source(description: Description) -> list[int]:
    return description.sources[:1] * BLOCKS


@cache
def matrix(system: Any, start: int) -> csr_array:
    """The weights of the piece around a vertex, both directions of each edge."""
    arrays = Arrays.of(system.weighted) if system.name == "tgraph" else system.arrays
    n = arrays.num_vertices
    whole = csr_array((arrays.weights.astype(np.float64), arrays.neighbors, arrays.offset), shape=(n, n))
    near = np.sort(csgraph.breadth_first_order(whole, start, directed=False, return_predecessors=False)[:VERTICES])
    piece = whole[near][:, near]
    both = piece.maximum(piece.T).tocsr()
    both.sort_indices()
    return both


@cache
def held(system: Any, start: int) -> Any:
    """The piece around a vertex as a graph of the system, with weights."""
    piece = matrix(system, start)
    return of_arrays(system, Arrays(piece.indptr.astype(np.int64), piece.indices, piece.data.astype(np.int32), False))


def of_piece(name: str, *arguments: Any, **options: Any) -> Any:
    """A function of the piece around the argument."""

    @cache
    def bound(system: Any, start: int) -> Any:
        return Call(name, *arguments, of=lambda _: held(system, start), **options).bound(system)

    return lambda system, start: bound(system, start)(None)


def our_distances(system: Any, start: int) -> torch.Tensor:
    return torch.cat([rows for _, rows in tg.algorithms.all_pairs(held(system, start), weighted=True)])


def rows_of_rustworkx(found: Any) -> np.ndarray:
    distance = np.zeros((len(found), len(found)))
    for vertex in range(len(found)):
        row = found[vertex]
        distance[vertex, list(row.keys())] = list(row.values())
    return distance


def four(counts: dict[str, int]) -> list[int]:
    """In the order of igraph's classes."""
    return [counts[kind] for kind in ("star", "path", "paw", "cycle", "diamond", "clique")]


def first(found: Any) -> float:
    return found[0]


ROWS = {
    "all pairs": Row(
        f"distances of all pairs of {VERTICES} vertices, over weights",
        {
            "tgraph": our_distances,
            "networkit": of_piece("distance.APSP"),
            "igraph": of_piece("distances", weights="weight"),
            "rustworkx": of_piece("all_pairs_dijkstra_path_lengths", float),
            "scipy": of_piece("dijkstra"),
        },
        read={"networkit": lambda run: np.asarray(run.getDistances()), "rustworkx": rows_of_rustworkx},
        agree=close,
        arguments=source,
    ),
    "floyd-warshall": Row(
        f"the same by the method of Floyd and Warshall, {VERTICES} vertices",
        {
            "tgraph": of_piece("floyd_warshall", predecessors=False),
            "rustworkx": of_piece("floyd_warshall_numpy", float),
            "scipy": of_piece("floyd_warshall"),
        },
        read={"tgraph": first},
        agree=close,
        arguments=source,
    ),
    "global cut": Row(
        f"a minimum cut of {VERTICES} vertices",
        {
            "tgraph": of_piece("stoer_wagner"),
            "igraph": of_piece("mincut", capacity="weight"),
            "rustworkx": of_piece("stoer_wagner_min_cut", float),
        },
        read={"tgraph": first, "igraph": lambda found: found.value, "rustworkx": first},
        agree=close,
        arguments=source,
    ),
    "motifs": Row(
        f"induced subgraphs of 4 vertices, of {VERTICES}",
        {"tgraph": of_piece("motif_counts"), "igraph": of_piece("motifs_randesu", 4)},
        read={"tgraph": four, "igraph": lambda counts: [round(counts[i]) for i in (4, 6, 7, 8, 9, 10)]},
        arguments=source,
    ),
    "cliques": Row(
        f"the number of cliques of 4 vertices, of {VERTICES}",
        {"tgraph": of_piece("k_clique_count", 4), "igraph": of_piece("cliques", 4, 4)},
        read={"igraph": len},
        arguments=source,
    ),
    "line graph": Row(
        f"the line graph of {VERTICES} vertices",
        {"tgraph": of_piece("line_graph"), "igraph": of_piece("linegraph")},
        read={
            "tgraph": lambda found: [found[0].num_vertices, found[0].num_arcs // 2],
            "igraph": lambda graph: [graph.vcount(), graph.ecount()],
        },
        arguments=source,
    ),
}
