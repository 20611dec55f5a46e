"""Common neighbours of two vertices: for given pairs, and for the most similar others of each vertex."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.algebra import dot, nearest
from tgraph.kernels.operators.algebra.nearest import SCORES
from tgraph.kernels.sparse import SparseMatrix


def common_neighbors(
    graph: Graph, pairs: Any, weights: Tensor | None = None, *, counterparts: Graph | None = None, backend: str = "auto"
) -> Tensor:
    """The number of neighbours that the two vertices of each pair have in common, int64 [k], or with `weights` the sum
    of the weights of these neighbours, float64 [k].

    pairs : vertex indices [k, 2]. weights : numbers [n]. counterparts : the graph whose rows the second vertices have,
    by default the same. No graph has parallel arcs. `backend` names the kernels. For each pair a step for each
    neighbour of the vertex that has fewer, at most.
    Raises ArgumentError for what is no pair of vertices.

    >>> tg.primitives.row_similarity.common_neighbors(tg.generators.cycle(4), [[0, 2], [0, 1]])
    tensor([2, 0])
    """
    pairs = vertex_pairs(graph, pairs)
    if graph.storage.is_distributed and counterparts is None:
        graph, pairs, weights = _rows_of(graph, pairs, weights)
    first, second = pairs.unbind(1)
    rows = _rows(graph)
    values = None if weights is None else weights.to(graph.device, torch.float64).contiguous()
    first, order = devices.sort(first)
    rows_of_groups, count = torch.unique_consecutive(first, return_counts=True)
    groups = torch.cat((count.new_zeros(1), count.cumsum(0)))
    dtype = torch.int64 if weights is None else torch.float64
    left, right = rows._replace(values=values, by_column=True), rows if counterparts is None else _rows(counterparts)
    run = dot.dot_pairs.with_backend(backend)
    others = second[order].to(rows.columns.dtype)
    found, _ = run(left, right, rows_of_groups, groups, others, "sum", "mul", dtype)
    return torch.empty_like(found).index_copy_(0, order, found)


def most_similar(
    graph: Graph,
    count: int,
    score: str = "common",
    weights: Tensor | None = None,
    *,
    vertices: Any = None,
    others_only: bool = False,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """The `count` vertices most similar to each of the `vertices`, by default all: (int64 [r, count], float64), best
    first, ties by index; -1 and 0 where fewer have a neighbour in common with it.

    score : "common", the number of common neighbours or the sum of their `weights` [n]; with it as c, and the numbers
        of neighbours as a and b, "jaccard" c / (a + b - c), "overlap" c / min(a, b), "sorensen" 2 c / (a + b) and
        "cosine" c / sqrt(a b).
    others_only : leave out the neighbours of the vertex.
    backend : names the kernels.

    The graph has no parallel arcs. A step for each path of two arcs from a vertex; a row at a time is held.
    Raises ArgumentError for an unknown score, and a `count` below 0.

    >>> graph = tg.generators.complete_bipartite(2, 3)
    >>> vertex, score = tg.primitives.row_similarity.most_similar(graph, 1, "jaccard")
    >>> vertex.flatten(), score.flatten()
    (tensor([1, 0, 3, 2, 2]), tensor([1., 1., 1., 1., 1.], dtype=torch.float64))
    """
    if score not in SCORES:
        raise ArgumentError(f"score: {score!r} is not one of {', '.join(map(repr, SCORES))}")
    count = inputs.as_count(count, "count")
    rows = _rows(graph)
    backwards = rows if not graph.directed else _rows(graph.transpose_detached())
    values = None if weights is None else weights.to(graph.device, torch.float64).contiguous()
    ids = None if vertices is None else graph.as_vertices(vertices)
    mine = rows
    if ids is not None:
        offset, columns, _ = graph.decoded().storage.rows(ids)
        mine = SparseMatrix(offset, columns)
    mine = mine._replace(values=values, by_column=True)
    run = nearest.nearest_rows.with_backend(backend)
    columns, scores = run(ids, mine, backwards, graph.out_degree, score, count, others_only)
    return columns, scores


def vertex_pairs(graph: Graph, pairs: Any) -> Tensor:
    """The `pairs` of vertex indices as a tensor, int64 [k, 2]. Raises ArgumentError for another shape, and what is no
    vertex.

    >>> tg.primitives.row_similarity.vertex_pairs(tg.generators.path(4), [[0, 2], [1, 3]])
    tensor([[0, 2],
            [1, 3]])
    """
    tensor = inputs.as_tensor(pairs, "pairs")
    if tensor.numel() == 0 and tensor.dim() < 2:
        tensor = tensor.reshape(0, 2).to(torch.int64)
    if tensor.dim() != 2 or tensor.shape[1] != 2:
        raise ArgumentError(f"pairs: expected two vertices each, shape [k, 2], got {list(tensor.shape)}")
    return graph.as_vertices(tensor.reshape(-1), "pairs").reshape(-1, 2)


def _rows_of(graph: Graph, pairs: Tensor, weights: Tensor | None) -> tuple[Graph, Tensor, Tensor | None]:
    """(the rows of the vertices of some pairs, on every rank over which the graph is spread; the pairs, and the weights
    of the columns, by their numbers there)."""
    vertices, pairs = pairs.unique(return_inverse=True)
    offset, columns, _ = graph.storage.rows(vertices)
    known, columns = columns.unique(return_inverse=True)
    size = max(len(vertices), len(known))
    offset = torch.nn.functional.pad(offset, (0, size + 1 - len(offset)), value=len(columns))
    weights = None if weights is None else torch.nn.functional.pad(weights[known], (0, size - len(known)))
    return Graph(offset, columns), pairs, weights


def _rows(graph: Graph) -> SparseMatrix:
    graph.ensure_valid()
    arcs = graph.decoded()
    return SparseMatrix(arcs.offset.contiguous(), arcs.neighbors.contiguous())
