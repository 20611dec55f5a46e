"""Subgraph centrality: closed walks through a vertex, those of length l counted by 1 / l! (Estrada and
Rodriguez-Velazquez 2005), the diagonal of exp(A).

Of a small graph all eigenvectors of A are computed, O(n^3). Of a larger one, Lanczos's recurrence from each unit vector
e_v gives a tridiagonal matrix T with exp(A)[v, v] = exp(T)[0, 0], to the precision of Gauss's quadrature (Golub and
Meurant 1994): some ten to thirty steps, O(n m) each in all, some hundred vertices at a time.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg

DENSE = 1500  # vertices up to which the eigenvectors are computed
AT_ONCE = 1 << 22  # values of the vectors of a group


def subgraph_centrality(
    graph: tg.Graph, *, normalized: bool = False, tol: float = 1e-9, method: str = "auto"
) -> Tensor:
    """Subgraph centrality of every vertex, the closed walks through it: the diagonal of exp(A) of the graph without its
    weights and parallel edges, float64 [n].

    `normalized`, divide by the exponential of the largest eigenvalue. `method`: "dense" computes all eigenvectors,
    "lanczos" stops where a step changes no value by more than `tol` of it, "auto" is dense up to 1500 vertices.
    Raises ArgumentError for a directed graph, and for another method.

    >>> tg.algorithms.subgraph_centrality(tg.generators.star(2)).round(decimals=3)
    tensor([2.1780, 1.5890, 1.5890], dtype=torch.float64)
    """
    if graph.directed:
        raise tg.errors.ArgumentError(
            "graph: subgraph centrality is that of an undirected graph; use graph.to_undirected()"
        )
    if method not in ("auto", "dense", "lanczos"):
        raise tg.errors.ArgumentError(f"method: {method!r} is not one of 'auto', 'dense', 'lanczos'")
    n, simple = graph.num_vertices, graph.decoded().to_undirected(multi="first")
    if n == 0:
        return torch.zeros(0, dtype=torch.float64, device=graph.device)
    if method == "dense" or (method == "auto" and n <= DENSE):
        return _dense(simple, normalized)
    return _quadrature(simple, normalized, tol)


def _dense(graph: tg.Graph, normalized: bool) -> Tensor:
    n = graph.num_vertices
    matrix = torch.zeros((n, n), dtype=torch.float64, device=graph.device)
    matrix[tuple(graph.to_edge_index())] = 1
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    return vectors.square() @ torch.exp(eigenvalues - eigenvalues.max() if normalized else eigenvalues)


def _quadrature(graph: tg.Graph, normalized: bool, tol: float) -> Tensor:
    n = graph.num_vertices
    together, found, largest = max(1, AT_ONCE // n), [], -torch.inf
    for group in tg.progress.track(torch.arange(n, device=graph.device).split(together), "subgraph centrality"):
        logarithm, top = _lanczos(graph, group, tol, normalized)
        found.append(logarithm)
        largest = max(largest, top)
    return torch.exp(torch.cat(found) - (largest if normalized else 0))


def _lanczos(graph: tg.Graph, vertices: Tensor, tol: float, with_top: bool) -> tuple[Tensor, float]:
    """The logarithms of exp(A)[v, v] for some vertices, and the largest eigenvalue that is seen from them; it converges
    later than they do, and is waited for `with_top`."""
    n, k = graph.num_vertices, len(vertices)
    vector = torch.zeros((n, k), dtype=torch.float64, device=graph.device)
    vector[vertices, torch.arange(k, device=graph.device)] = 1
    before, beta = torch.zeros_like(vector), vector.new_zeros(k)
    diagonals: list[Tensor] = []
    sides: list[Tensor] = []
    value, top = vector.new_full((k,), torch.nan), -torch.inf
    for step in range(1, n + 1):
        onward = tg.aggregate(graph, vector, "sum") - beta * before
        alpha = (onward * vector).sum(0)
        onward -= alpha * vector
        beta = torch.linalg.vector_norm(onward, dim=0)
        beta = torch.where(beta > 1e-10, beta, 0)  # the walks from the vertex are exhausted
        diagonals.append(alpha)
        if step % 3 == 0 or step == n or not bool(beta.any()):
            last, highest, (value, top) = value, top, _exponential(diagonals, sides)
            settled = bool(((value - last).abs() <= tol).all()) and (not with_top or top - highest <= tol)
            if not bool(beta.any()) or settled:
                break
        sides.append(beta)
        before, vector = vector, onward / torch.where(beta == 0, 1, beta)
        vector *= beta > 0
    return value, top


def _exponential(diagonals: list[Tensor], sides: list[Tensor]) -> tuple[Tensor, float]:
    """log exp(T)[0, 0] for tridiagonal matrices T, [k], and their largest eigenvalue."""
    matrix = torch.diag_embed(torch.stack(diagonals, 1))
    if sides:
        side = torch.stack(sides, 1)
        matrix += torch.diag_embed(side, 1) + torch.diag_embed(side, -1)
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    return torch.logsumexp(eigenvalues + 2 * vectors[:, 0].abs().clamp(min=1e-300).log(), 1), float(eigenvalues.max())
