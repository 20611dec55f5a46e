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
from bench.library import Row, close

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
def ours(system: Any, start: int) -> tg.Graph:
    piece = matrix(system, start)
    offset, neighbors = torch.from_numpy(piece.indptr.astype(np.int64)), torch.from_numpy(piece.indices)
    return tg.Graph(offset, neighbors, torch.from_numpy(piece.data.astype(np.int32)), directed=False)


def edges(system: Any, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each edge of the piece once."""
    piece = matrix(system, start).tocoo()
    once = piece.row < piece.col
    return piece.row[once], piece.col[once], piece.data[once]


@cache
def of_networkit(system: Any, start: int) -> Any:
    import networkit as nk

    one, other, weight = edges(system, start)
    triplets = weight, (one.astype(np.uint64), other.astype(np.uint64))
    return nk.GraphFromCoo(triplets, n=matrix(system, start).shape[0], weighted=True, directed=False)


@cache
def of_igraph(system: Any, start: int) -> Any:
    import igraph

    one, other, weight = edges(system, start)
    graph = igraph.Graph(n=matrix(system, start).shape[0], edges=np.stack((one, other), 1))
    graph.es["weight"] = weight.tolist()
    return graph


@cache
def of_rustworkx(system: Any, start: int) -> Any:
    import rustworkx

    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(matrix(system, start).shape[0]))
    graph.add_edges_from(list(zip(*(column.tolist() for column in edges(system, start)), strict=True)))
    return graph


def our_distances(system: Any, start: int) -> torch.Tensor:
    return torch.cat([rows for _, rows in tg.algorithms.all_pairs(ours(system, start), weighted=True)])


def networkit_distances(system: Any, start: int) -> Any:
    import networkit as nk

    return nk.distance.APSP(of_networkit(system, start)).run()


def rustworkx_distances(system: Any, start: int) -> Any:
    import rustworkx

    return rustworkx.all_pairs_dijkstra_path_lengths(of_rustworkx(system, start), float)


def rows_of_rustworkx(found: Any) -> np.ndarray:
    distance = np.zeros((len(found), len(found)))
    for vertex in range(len(found)):
        row = found[vertex]
        distance[vertex, list(row.keys())] = list(row.values())
    return distance


def rustworkx_matrix(system: Any, start: int) -> np.ndarray:
    import rustworkx

    return rustworkx.floyd_warshall_numpy(of_rustworkx(system, start), float)


def rustworkx_cut(system: Any, start: int) -> float:
    import rustworkx

    return rustworkx.stoer_wagner_min_cut(of_rustworkx(system, start), float)[0]


def four(counts: dict[str, int]) -> list[int]:
    """In the order of igraph's classes."""
    return [counts[kind] for kind in ("star", "path", "paw", "cycle", "diamond", "clique")]


ROWS = {
    "all pairs": Row(
        f"distances of all pairs of {VERTICES} vertices, over weights",
        {
            "tgraph": our_distances,
            "networkit": networkit_distances,
            "igraph": lambda system, start: of_igraph(system, start).distances(weights="weight"),
            "rustworkx": rustworkx_distances,
            "scipy": lambda system, start: csgraph.dijkstra(matrix(system, start)),
        },
        read={"networkit": lambda run: np.asarray(run.getDistances()), "rustworkx": rows_of_rustworkx},
        agree=close,
        arguments=source,
    ),
    "floyd-warshall": Row(
        f"the same by the method of Floyd and Warshall, {VERTICES} vertices",
        {
            "tgraph": lambda system, start: tg.algorithms.floyd_warshall(ours(system, start), predecessors=False)[0],
            "rustworkx": rustworkx_matrix,
            "scipy": lambda system, start: csgraph.floyd_warshall(matrix(system, start)),
        },
        agree=close,
        arguments=source,
    ),
    "global cut": Row(
        f"a minimum cut of {VERTICES} vertices",
        {
            "tgraph": lambda system, start: tg.algorithms.stoer_wagner(ours(system, start))[0],
            "igraph": lambda system, start: of_igraph(system, start).mincut(capacity="weight").value,
            "rustworkx": rustworkx_cut,
        },
        agree=close,
        arguments=source,
    ),
    "motifs": Row(
        f"induced subgraphs of 4 vertices, of {VERTICES}",
        {
            "tgraph": lambda system, start: tg.algorithms.motif_counts(ours(system, start)),
            "igraph": lambda system, start: of_igraph(system, start).motifs_randesu(4),
        },
        read={"tgraph": four, "igraph": lambda counts: [round(counts[i]) for i in (4, 6, 7, 8, 9, 10)]},
        arguments=source,
    ),
    "cliques": Row(
        f"the number of cliques of 4 vertices, of {VERTICES}",
        {
            "tgraph": lambda system, start: tg.algorithms.k_clique_count(ours(system, start), 4),
            "igraph": lambda system, start: len(of_igraph(system, start).cliques(4, 4)),
        },
        arguments=source,
    ),
    "line graph": Row(
        f"the line graph of {VERTICES} vertices",
        {
            "tgraph": lambda system, start: tg.algorithms.line_graph(ours(system, start))[0],
            "igraph": lambda system, start: of_igraph(system, start).linegraph(),
        },
        read={
            "tgraph": lambda graph: [graph.num_vertices, graph.num_arcs // 2],
            "igraph": lambda graph: [graph.vcount(), graph.ecount()],
        },
        arguments=source,
    ),
}
