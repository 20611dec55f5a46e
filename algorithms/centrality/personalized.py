"""Personalised PageRank for many surfers at once: the ranks are a matrix [n, k], and an iteration is one product.

    rank = (1 - damping) * jump + damping * (received + dangling mass * jump)

with a column of `jump` for each surfer: where it jumps to. O((n + m) k) for each iteration; the arcs are read once.

What is in brackets at `jump` is one number for each surfer, so that the ranks are also, up to a factor, the solution of

    x = damping * received + jump

which sweeps of Gauss-Seidel approach in about half as many iterations, in place (Del Corso, Gulli and Romani, "Fast
PageRank computation via a sparse linear system", 2005).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._power import check_dtype, fitted, strength, wide


class PersonalizedPageRank(tg.Program):
    """The ranks [n, k] of k surfers. The parameters are those of `PageRank`; `personalization` is [n, k], weights of
    the vertices that each surfer jumps to, and the iteration ends where `tol` is met for each column."""

    damping: float
    dtype: torch.dtype
    personalization: Any
    redistribute: bool
    share: Tensor

    one_torch_thread = False

    def __init__(
        self,
        *,
        personalization: Any,
        damping: float = 0.85,
        tol: float | None = 1e-6,
        max_iterations: int = 100,
        dangling: str = "redistribute",
        weighted: bool = False,
        dtype: torch.dtype = torch.float32,
    ):
        if not 0 <= damping <= 1:
            raise tg.errors.ArgumentError(f"damping: must be between 0 and 1, got {damping}")
        if dangling not in ("redistribute", "ignore"):
            raise tg.errors.ArgumentError(f"dangling: {dangling!r} is not one of 'redistribute', 'ignore'")
        check_dtype(dtype)
        self.damping, self.tolerance, self.dtype, self.personalization = damping, tol, dtype, personalization
        self.rounds, self.max_iterations = (max_iterations, None) if tol is None else (None, max_iterations)
        self.redistribute, self.edge = dangling == "redistribute", "mul" if weighted else "copy"

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        leaving = fitted(strength(self, graph, self.edge), self.dtype)
        self.share = (leaving.sign() / leaving.clamp(min=torch.finfo(leaving.dtype).tiny)).to(self.dtype)[:, None]
        self.jump: Tensor = self.destinations(graph)
        return self.jump.clone(), graph.everything()

    def compute(self, sub: tg.Subgraph, rank: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        received = tg.aggregate(sub, rank * self.share, "sum", edge=self.edge).values
        jumping: Tensor | float = 1 - self.damping
        if self.redistribute:
            jumping = jumping + self.damping * rank.masked_fill(self.share != 0, 0).sum(0, dtype=wide(rank[:0]).dtype)
            jumping = jumping.to(self.dtype)
        return self.damping * received + jumping * self.jump, active

    def residual(self, before: Tensor, after: Tensor) -> Tensor | float:
        return (after - before).abs().sum(0).max() if after.numel() else 0.0

    def destinations(self, graph: tg.Graph) -> Tensor:
        """Where jumps lead: probabilities [n, k]. Raises ArgumentError for a personalization that is none."""
        weights = wide(torch.as_tensor(self.personalization, device=graph.device))
        tg.primitives.weights.check_numbers("personalization", weights, "measures")
        total = weights.sum(0)
        fits = weights.dim() == 2 and len(weights) == graph.num_vertices
        if not fits or not bool((total > 0).all() & (total < math.inf).all()):
            raise tg.errors.ArgumentError(
                f"personalization: expected [{graph.num_vertices}, k] weights with finite sums, no column all zero"
            )
        return (weights / total).to(self.dtype)


class SolvedPageRank(PersonalizedPageRank):
    """The same ranks by sweeps of Gauss-Seidel over x = damping * received + jump, whose columns are then scaled.

    The ranks [n, k] are kept as [n, g, w], g groups of w columns, each group in memory of its own. The columns of x sum
    to at least 1: that a sweep changes x by at most `tol` holds for the ranks too.
    """

    columns: int
    share: Tensor
    change: Tensor

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        if self.damping == 1:
            raise tg.errors.ArgumentError("damping: 'gauss-seidel' needs one below 1; use method='power'")
        jump, active = super().init(graph)
        self.columns, self.share = jump.shape[1], self.share[:, 0]
        width = 8
        while width > 1 and self.columns < width * torch.get_num_threads():  # which does not change the ranks
            width //= 2
        padded = torch.nn.functional.pad(jump, (0, -self.columns % width))
        self.jump: Tensor = padded.view(len(jump), -1, width).transpose(0, 1).contiguous()
        return self.jump.clone().transpose(0, 1), active

    def compute(self, sub: tg.Subgraph, rank: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        x, self.change = tg.primitives.gauss_seidel.sweep_columns(
            sub.graph,
            rank.transpose(0, 1),
            scale=self.share,
            bias=self.jump,
            alpha=self.damping,
            weighted=self.edge == "mul",
        )
        return x.transpose(0, 1), active

    def residual(self, before: Tensor, after: Tensor) -> Tensor | float:
        return self.change.max() if after.numel() else 0.0

    def finish(self, values: Tensor) -> Tensor:
        values = values.flatten(1)[:, : self.columns]
        if not self.redistribute:
            return values * (1 - self.damping)
        return values / values.sum(0, dtype=wide(values[:0]).dtype).to(values.dtype)
