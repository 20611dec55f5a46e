"""Vertex orders that place neighbours close together, for cache locality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.core.graph import Graph
from tgraph.errors import MissingDependencyError
from tgraph.primitives.community import label_propagation
from tgraph.progress import busy

# Approximate vertices per part of a METIS partition: float32 rows of a few columns for them fit a second-level cache.
PART = 4096

# Rounds of label propagation; communities of large graphs are nearly stable by then (Boldi, Rosa, Santini, Vigna 2011).
ROUNDS = 10


def reorder(graph: Graph, method: str) -> Graph:
    """The same graph with its vertices in an order that brings neighbours together, for speed or compression.

    method : "degree", hubs first; "rcm", breadth-first for a small bandwidth (needs scipy), for meshes and roads;
    "metis", part by part of a partition (needs pymetis); "community", by label propagation, for social networks.
    The result is permuted: its `restore` brings results back into this graph's order, and its `ids`, `top` and
    `frame` name vertices as they do here.
    Raises ArgumentError for an unknown method, MissingDependencyError where a package is not installed.

    >>> graph = tg.generators.star(3).permute([3, 0, 1, 2])
    >>> ordered = graph.reorder("degree")
    >>> ordered.out_degree, ordered.order
    (tensor([3, 1, 1, 1]), tensor([1, 0, 2, 3]))
    >>> ordered.restore(ordered.out_degree)
    tensor([1, 3, 1, 1])
    """
    check_choice(method, "method", tuple(ORDERS))
    undirected = graph.to_undirected() if graph.directed else graph
    with busy(f"order by {method}"):
        return graph.permute(ORDERS[method](undirected).to(graph.device))


def by_degree(graph: Graph) -> Tensor:
    """Vertices by descending degree, ties by index, which places hubs next to each other."""
    return graph.out_degree.argsort(descending=True, stable=True)


def by_cuthill_mckee(graph: Graph) -> Tensor:
    """Reverse Cuthill-McKee (Cuthill, McKee 1969; George 1971): breadth-first from vertices of small degree,
    reversed."""
    try:
        from scipy.sparse.csgraph import reverse_cuthill_mckee
    except ImportError as missing:
        raise MissingDependencyError("scipy", "reorder('rcm')", "scipy") from missing
    if not graph.num_arcs:  # scipy rejects an empty matrix
        return torch.arange(graph.num_vertices)
    order = reverse_cuthill_mckee(_matrix(graph), symmetric_mode=True)
    return torch.from_numpy(order.astype("int64"))


def _matrix(graph: Graph) -> Any:
    from scipy.sparse import csr_array

    offset, neighbors = graph.offset.cpu().numpy(), graph.neighbors.cpu().numpy()
    n = graph.num_vertices
    return csr_array((torch.ones(graph.num_arcs, dtype=torch.int8).numpy(), neighbors, offset), shape=(n, n))


def by_metis(graph: Graph) -> Tensor:
    """Part by part of a METIS partition with small edge cut. Recursive bisection gives adjacent numbers to adjacent
    parts."""
    plain = graph.to_undirected("first").without_self_loops()
    parts = min(-(-plain.num_vertices // PART), 1024)
    return metis_parts(plain, max(parts, 1), "reorder('metis')", recursive=True).argsort(stable=True)


def metis_parts(
    graph: Graph, parts: int, purpose: str, weight: Tensor | None = None, *, recursive: bool = False
) -> Tensor:
    """The part of each vertex, int64 [n] on the CPU, of a partition with small edge cut (Karypis, Kumar 1998).

    graph : undirected, without self-loops and parallel edges. weight : the vertex weights that are balanced, int64 [n];
    1 where None. recursive : by recursive bisection. Raises MissingDependencyError, naming the `purpose`, without
    pymetis.
    """
    try:
        import pymetis
    except ImportError as missing:
        raise MissingDependencyError("pymetis", purpose, "metis") from missing
    if parts < 2:
        return torch.zeros(graph.num_vertices, dtype=torch.int64)
    adjacency = pymetis.CSRAdjacency(graph.offset.cpu().numpy(), graph.neighbors.cpu().numpy())
    weights = None if weight is None else weight.cpu().numpy()
    return torch.tensor(pymetis.part_graph(parts, adjacency, vweights=weights, recursive=recursive)[1])


def by_community(graph: Graph) -> Tensor:
    """By communities of a label propagation (Raghavan, Albert, Kumara 2007), in the order of their labels, vertices of
    a community by index, which preserves locality of the given order."""
    alone = torch.arange(graph.num_vertices, device=graph.device)
    return label_propagation.propagate(graph, alone, ROUNDS).argsort(stable=True)


ORDERS: dict[str, Callable[[Graph], Tensor]] = {
    "degree": by_degree,
    "rcm": by_cuthill_mckee,
    "metis": by_metis,
    "community": by_community,
}


Graph.reorder = reorder
