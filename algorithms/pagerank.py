"""PageRank (Page, Brin, Motwani, Winograd 1999) by power iteration.

rank = (1 - damping) * jump + damping * (received + dangling mass * jump), where `jump` is uniform or the
personalization: a probability vector in, a probability vector out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms._power import change, check_dtype, check_weights, wide


class PageRank(tg.Program):
    """The probability that a surfer who follows arcs at random, and jumps now and then, is at each vertex: [n].

    damping : the probability of following an arc rather than jumping.
    tol : stop once an iteration changes the ranks by at most this in all (L1); None does `max_iterations` rounds.
    personalization : where the surfer jumps to: a tensor [n], or {original id: weight}; None is anywhere alike.
    dangling : "redistribute" lets a surfer at a vertex without out-arcs jump; "ignore" drops that mass, as GAP does.
    weighted : follow arcs in proportion to their weights, through which gradients flow.
    """

    def __init__(
        self,
        *,
        damping: float = 0.85,
        tol: float | None = 1e-6,
        max_iterations: int = 100,
        personalization: Tensor | Mapping[Any, float] | None = None,
        dangling: str = "redistribute",
        weighted: bool = False,
        dtype: torch.dtype = torch.float32,
    ):
        if not 0 <= damping <= 1:
            raise tg.errors.ArgumentError(f"damping: must be between 0 and 1, got {damping}")
        check_dtype(dtype)
        if dangling not in ("redistribute", "ignore"):
            raise tg.errors.ArgumentError(f"dangling: {dangling!r} is not one of 'redistribute', 'ignore'")
        self.damping, self.tolerance, self.dtype = damping, tol, dtype
        self.rounds, self.max_iterations = (max_iterations, None) if tol is None else (None, max_iterations)
        self.personalization, self.redistribute, self.weighted = personalization, dangling == "redistribute", weighted

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        self.edge = "mul" if self.weighted else "copy"
        leaving = self.strength(graph)
        self.dangling = leaving == 0
        self.per_arc = torch.where(self.dangling, 0, self.damping / leaving.masked_fill(self.dangling, 1))
        self.jump = self.destination(graph)
        rank = torch.full((graph.num_vertices,), 1 / max(graph.num_vertices, 1), dtype=self.dtype, device=graph.device)
        return rank, graph.everything()

    def compute(self, sub: tg.Subgraph, rank: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        rank = wide(rank)
        received = tg.aggregate(sub, rank * self.per_arc, "sum", edge=self.edge).values
        jumping: Tensor | float = 1 - self.damping
        if self.redistribute:
            jumping = jumping + self.damping * (rank * self.dangling).sum()
        return (received + jumping * self.jump).to(self.dtype), active

    def residual(self, before: Tensor, after: Tensor) -> Tensor:
        return change(before, after)

    def strength(self, graph: tg.Graph) -> Tensor:
        """The weight that leaves each vertex, [n]: its degree, or the sum over its arcs.

        Raises ArgumentError for a weight that is negative or NaN.
        """
        if not self.weighted:
            return wide(graph.out_degree)
        check_weights(graph)
        arcs = self.tensorize(graph, graph.everything(), "push").reverse()
        ones = wide(torch.ones(graph.num_vertices, device=graph.device))
        return tg.aggregate(arcs, ones, "sum", edge="mul").values

    def destination(self, graph: tg.Graph) -> Tensor | float:
        """Where a jump leads: probabilities [n], or 1/n. Raises ArgumentError for a personalization that is none."""
        wanted = self.personalization
        if wanted is None:
            return 1 / max(graph.num_vertices, 1)
        if isinstance(wanted, Mapping):
            weights = wide(torch.zeros(graph.num_vertices, device=graph.device))
            weights[graph.index(list(wanted))] = weights.new_tensor(list(wanted.values()))
        else:
            weights = wide(torch.as_tensor(wanted, device=graph.device))
        if weights.shape != (graph.num_vertices,) or not bool((weights >= 0).all()) or not 0 < weights.sum() < math.inf:
            raise tg.errors.ArgumentError(
                f"personalization: expected [{graph.num_vertices}] finite weights, none negative or NaN, not all zero"
            )
        return weights / weights.sum()


def pagerank(
    graph: tg.Graph,
    *,
    damping: float = 0.85,
    tol: float | None = 1e-6,
    max_iterations: int = 100,
    personalization: Tensor | Mapping[Any, float] | None = None,
    dangling: str = "redistribute",
    weighted: bool = False,
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> Tensor:
    """PageRank of every vertex, [n], which sums to 1 (unless dangling="ignore").

    The parameters are those of `PageRank`; `options` go to `tgraph.run`. Ranks are kept in `dtype`, sums are
    taken in float64. Raises NotConvergedError, with the ranks so far, where `tol` is not met
    within `max_iterations`; ArgumentError for arguments out of range.
    """
    program = PageRank(
        damping=damping,
        tol=tol,
        max_iterations=max_iterations,
        personalization=personalization,
        dangling=dangling,
        weighted=weighted,
        dtype=dtype,
    )
    return tg.run(program, graph, **options).values
