"""Eigenvector centrality: a vertex is as important as those that point to it (Bonacich 1972).

    y = (A^T y + y) / |y|, x = y / |y|

the power iteration in the L2 norm, on A + I, so that it converges on bipartite graphs too, with A divided by its
largest weight where that is below 1, so that it is not lost beside I. An iterate is divided by its norm in the step
after it, so that each is one affine step; O(n + m).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._implicit import scaled_to, solved, wants, weights_of
from tgraph.algorithms.centrality._power import check_dtype, inverse


class Eigenvector(tg.Program):
    """The left eigenvector of the largest eigenvalue, [n], of norm 1.

    tol : stop once an iteration changes the values by at most n * tol in all (L1), as networkx does. weighted : arcs
    count by their weights. start : the first vector [n], not all zero; None for equal values. dtype : of the values.

    >>> run = tg.run(tg.algorithms.Eigenvector(tol=1e-9), tg.generators.wheel(5))
    >>> run.values.round(decimals=3)
    tensor([0.5260, 0.4250, 0.4250, 0.4250, 0.4250], dtype=torch.float64)
    """

    tol: float
    start: Tensor | None
    dtype: torch.dtype

    one_torch_thread = True

    def __init__(
        self,
        *,
        tol: float = 1e-6,
        max_iterations: int = 100,
        weighted: bool = False,
        start: Tensor | None = None,
        dtype: torch.dtype = torch.float64,
    ):
        check_dtype(dtype)
        self.tol, self.max_iterations, self.start, self.dtype = tol, max_iterations, start, dtype
        self.edge = "mul" if weighted else "copy"

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        n = graph.num_vertices
        self.tolerance = n * self.tol
        self.unit = 1.0
        if self.edge == "mul":
            tg.primitives.weights.check(graph, "numbers", "eigenvectors")
            unit = tg.primitives.weights.unit(graph)
            self.unit = 1.0 if 1 <= unit < 1e100 else max(unit, 1e-300)
        self.walks = tg.primitives.linear.AffineMap(edge=self.edge)
        if self.start is None:
            return torch.full((n,), 1 / max(n, 1), dtype=self.dtype, device=graph.device), graph.everything()
        first = torch.as_tensor(self.start, device=graph.device).to(self.dtype)
        tg.primitives.weights.check_numbers("start", first, "numbers")
        if first.shape != (n,) or float(first.sum()) == 0:
            raise tg.errors.ArgumentError(f"start: expected [{n}] finite values that do not sum to zero")
        return first / first.sum(), graph.everything()

    def compute(self, sub: tg.Subgraph, y: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        share = inverse(float(torch.linalg.vector_norm(y)))
        self.walks.replace_bias(y)
        return self.walks.step(sub, y, alpha=share / self.unit, beta=share), active

    def residual(self, before: Tensor, after: Tensor) -> Tensor:
        share, last = (inverse(float(torch.linalg.vector_norm(y))) for y in (after, before))
        return torch.linalg.vector_norm(torch.sub(after, before, alpha=last / share), ord=1) * share

    def finish(self, values: Tensor) -> Tensor:
        return values * inverse(float(torch.linalg.vector_norm(values)))


def eigenvector(
    graph: tg.Graph,
    *,
    tol: float = 1e-6,
    max_iterations: int = 100,
    weighted: bool = False,
    start: Tensor | None = None,
    dtype: torch.dtype = torch.float64,
    **options: Any,
) -> Tensor:
    """Eigenvector centrality of every vertex, [n], of norm 1: what it receives along its in-arcs, in proportion.

    The parameters are those of `Eigenvector`; `options` go to `tgraph.run`. Parallel arcs count each. Gradients by the
    weights are those of the eigenvector, without the iterations (`tgraph.primitives.implicit`). Raises
    NotConvergedError, with the values so far, where `tol` is not met within `max_iterations`; ArgumentError
    for weights that are not finite.

    >>> tg.algorithms.eigenvector(tg.generators.wheel(5)).round(decimals=3)
    tensor([0.5260, 0.4250, 0.4250, 0.4250, 0.4250], dtype=torch.float64)
    """
    program = Eigenvector(tol=tol, max_iterations=max_iterations, weighted=weighted, start=start, dtype=dtype)
    if not wants(weights_of(graph, weighted)):
        return tg.run(program, graph, **options).values

    def step(received: Any, x: Tensor, weights: Tensor | None) -> Tensor:
        y = received(x) + program.unit * x
        return scaled_to(y, torch.linalg.vector_norm(y))

    return solved(graph, weighted, tol, lambda graph: tg.run(program, graph, **options).values, step)
