"""Katz centrality: all walks to a vertex count, those of length l by alpha^l (Katz 1953).

    x = alpha A^T x + beta

by iteration from zero, which converges where alpha is below the inverse of the largest eigenvalue; O(n + m) for each
iteration, one affine step.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._implicit import scaled_to, solved, wants, weights_of
from tgraph.algorithms.centrality._power import AffineProgram, check_dtype


class Katz(AffineProgram):
    """Katz centrality, [n].

    alpha : what each further step of a walk multiplies it by. beta : what a walk of length zero counts, a number or a
    tensor [n]. tol : stop once an iteration changes the values by at most n * tol in all (L1), as networkx does.
    normalized : scale the values to norm 1 (L2). weighted : arcs count by their weights. dtype : of the values.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
    >>> tg.run(tg.algorithms.Katz(alpha=0.5, normalized=False), graph).values
    tensor([1.0000, 1.5000, 1.7500], dtype=torch.float64)
    """

    alpha: float
    beta: float | Tensor
    tol: float
    normalized: bool
    dtype: torch.dtype

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        beta: float | Tensor = 1.0,
        tol: float = 1e-6,
        max_iterations: int = 1000,
        normalized: bool = True,
        weighted: bool = False,
        dtype: torch.dtype = torch.float64,
    ):
        check_dtype(dtype)
        self.alpha, self.beta, self.tol, self.max_iterations = alpha, beta, tol, max_iterations
        self.factor = alpha
        self.normalized, self.edge, self.dtype = normalized, "mul" if weighted else "copy", dtype

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        n, beta = graph.num_vertices, self.beta
        self.tolerance = n * self.tol
        if self.edge == "mul":
            tg.primitives.weights.check(graph, "numbers", "counts of walks")
        if isinstance(beta, Tensor) and beta.dim():
            beta = beta.to(graph.device, self.dtype)
            if beta.shape != (n,):
                raise tg.errors.ArgumentError(f"beta: expected a number or [{n}], got {list(beta.shape)}")
        else:
            beta = float(beta)
        number = beta if isinstance(beta, Tensor) else torch.tensor(beta, device="cpu")
        tg.primitives.weights.check_numbers("beta", number.flatten(), "numbers")
        self.walk = tg.primitives.linear.AffineMap(bias=beta, edge=self.edge)
        return torch.zeros(n, dtype=self.dtype, device=graph.device), graph.everything()

    def finish(self, values: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(values)
        return values / torch.where(norm == 0, 1, norm) if self.normalized else values

    def followed(self) -> tg.dynamic.LinearSystem:
        return tg.dynamic.LinearSystem(
            alpha=self.alpha,
            bias=self.beta,
            divided=False,
            weighted=self.edge == "mul",
            scaled="norm" if self.normalized else None,
            tolerance=self.tol,
            per_vertex=True,
            max_iterations=self.max_iterations,
            dtype=self.dtype,
        )


def katz(
    graph: tg.Graph,
    *,
    alpha: float | Tensor = 0.1,
    beta: float | Tensor = 1.0,
    tol: float = 1e-6,
    max_iterations: int = 1000,
    normalized: bool = True,
    weighted: bool = False,
    dtype: torch.dtype = torch.float64,
    **options: Any,
) -> Tensor:
    """Katz centrality of every vertex, [n]: walks that end there, each counted by alpha to the power of its length.

    The parameters are those of `Katz`; `options` go to `tgraph.run`. Parallel arcs count each. Gradients by weights,
    alpha and beta are those of the solution, without the iterations (`tgraph.primitives.implicit`). Raises
    NotConvergedError, with the values so far, where `tol` is not met within `max_iterations`: use a smaller alpha;
    ArgumentError for weights that are not finite.

    >>> tg.algorithms.katz(tg.Graph.from_edges([0, 1], [1, 2]), alpha=0.5, normalized=False)
    tensor([1.0000, 1.5000, 1.7500], dtype=torch.float64)
    """
    made: Any = partial(Katz, tol=tol, max_iterations=max_iterations, weighted=weighted, dtype=dtype)
    if not wants(weights_of(graph, weighted), alpha, beta):
        return tg.run(made(alpha=alpha, beta=beta, normalized=normalized), graph, **options).values

    def solve(graph: tg.Graph, **given: Any) -> Tensor:
        return tg.run(made(normalized=False, **given), graph, **options).values

    def step(received: Any, x: Tensor, weights: Tensor | None, alpha: Any, beta: Any) -> Tensor:
        return (alpha * received(x) + beta).to(dtype)

    x = solved(graph, weighted, tol, solve, step, alpha=alpha, beta=beta)
    return scaled_to(x, torch.linalg.vector_norm(x)) if normalized else x
