"""PageRank (Page, Brin, Motwani, Winograd 1999) by power iteration, or by block Gauss-Seidel (Arasu et al. 2002).

rank = (1 - damping) * jump + damping * (received + dangling mass * jump), where `jump` is uniform or the
personalization: a probability vector in, a probability vector out. An iteration takes O(n + m).

`PlainPageRank` is the program as the paper states it; the engine fuses it into one pass over the arcs. `PageRank` has
the options.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._implicit import solved, wants, weights_of
from tgraph.algorithms.centrality._power import AffineProgram, check_dtype, fitted, inverse, strength, wide
from tgraph.algorithms.centrality.personalized import PersonalizedPageRank, SolvedPageRank


class PlainPageRank(tg.Program):
    """The probability that a surfer who follows arcs at random, and jumps now and then, is at each vertex: [n].

    >>> run = tg.run(tg.algorithms.PlainPageRank(), tg.generators.star(3))
    >>> run.values.round(decimals=3)
    tensor([0.4800, 0.1730, 0.1730, 0.1730])
    """

    damping: float

    damping, tolerance, max_iterations = 0.85, 1e-5, 100

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        n = graph.num_vertices
        return torch.full((n,), 1 / max(n, 1), device=graph.device), graph.everything()

    def compute(self, sub: tg.Subgraph, rank: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        degree, n = sub.graph.out_degree, sub.graph.num_vertices
        received = tg.aggregate(sub, rank / degree.clamp(min=1), "sum").values
        dangling = rank[degree == 0].sum()
        return (1 - self.damping) / n + self.damping * (received + dangling / n), active

    def residual(self, before: Tensor, after: Tensor) -> Tensor:
        return (after - before).abs().sum()


class PageRank(AffineProgram):
    """PageRank with options, as steps of an affine map: [n].

    damping : the probability of following an arc rather than jumping.
    tol : stop once an iteration changes the ranks by at most this in all (L1); None does `max_iterations` rounds.
    personalization : where the surfer jumps to: a tensor [n], or {original id: weight}; None is anywhere alike.
    dangling : "redistribute" lets a surfer at a vertex without out-arcs jump; "ignore" drops that mass, as GAP does.
    weighted : follow arcs in proportion to their weights, through which gradients flow.
    method : "power" computes all ranks from those of the last iteration; "gauss-seidel" cuts the vertices into 64
        blocks, the last of which comes first, and each uses the new ranks of those before it (compiled kernels also
        within a block): often half as many iterations.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 1], vertices=["ann", "bob", "eve"])
    >>> run = tg.run(tg.algorithms.PageRank(damping=0.5, personalization={"ann": 1}), graph)
    >>> run.values.round(decimals=3), run.converged
    (tensor([0.5000, 0.3330, 0.1670]), True)
    """

    METHODS: ClassVar[dict[str, int]] = {"power": 1, "gauss-seidel": 64}
    rounds: int | None
    max_iterations: int | None
    damping: float
    dtype: torch.dtype
    blocks: int

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
        method: str = "power",
    ):
        if not 0 <= damping <= 1:
            raise tg.errors.ArgumentError(f"damping: must be between 0 and 1, got {damping}")
        check_dtype(dtype)
        if dangling not in ("redistribute", "ignore"):
            raise tg.errors.ArgumentError(f"dangling: {dangling!r} is not one of 'redistribute', 'ignore'")
        if method not in self.METHODS:
            raise tg.errors.ArgumentError(f"method: {method!r} is not one of {', '.join(map(repr, self.METHODS))}")
        self.damping, self.tolerance, self.dtype, self.blocks = damping, tol, dtype, self.METHODS[method]
        self.rounds, self.max_iterations = (max_iterations, None) if tol is None else (None, max_iterations)
        self.personalization: Tensor | Mapping[Any, float] | None = personalization
        self.redistribute: bool = dangling == "redistribute"
        self.weighted: bool = weighted
        self.factor, self.jump, self.rate = damping, 1 - damping, damping if self.redistribute else 0.0
        # Without the dangling mass the ranks are the same up to a factor, and new ones have no lagging term.
        self.scaled = self.redistribute and self.blocks > 1 and damping < 1

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        edge = "mul" if self.weighted else "copy"
        if self.weighted:
            share = self.shares(graph)
        else:  # kept: on a graph of few arcs per vertex, it takes as long as a step
            share = graph.kept(f"inverse out-degree, {self.dtype}", lambda: self.shares(graph))
        coefficients: dict[str, Any] = {"scale": share, "bias": self.destination(graph), "edge": edge}
        self.walk = (
            tg.primitives.linear.AffineMap(**coefficients)
            if self.blocks == 1
            else tg.primitives.gauss_seidel.GaussSeidel(blocks=self.blocks, **coefficients)
        )
        rank = torch.full((graph.num_vertices,), 1 / max(graph.num_vertices, 1), dtype=self.dtype, device=graph.device)
        if self.blocks > 1 and self.damping < 1:  # of the final sum
            rank = rank * torch.where(share == 0, 1 - self.damping, 1.0).to(self.dtype)
        if self.rate and self.blocks == 1 and not self.weighted and graph.layout is None:
            mass = graph.kept(f"dangling mass, {self.dtype}", lambda: float(self.walk.dangling_mass(rank)))
            last = {"values": rank, "total": None, "dangling_mass": mass}
            self.walk.restore({"last": last, "wanted": ["dangling_mass"]})
        return rank, graph.everything()

    def compute(self, sub: tg.Subgraph, rank: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        if not isinstance(self.walk, tg.primitives.gauss_seidel.GaussSeidel):
            return super().compute(sub, rank, active)
        scale = self.to_final_sum(rank)
        jumping: Tensor | float = self.jump
        if self.rate and not self.scaled:
            jumping = jumping + self.rate * scale * self.walk.dangling_mass(rank)
        return self.walk.step(sub, rank, alpha=self.factor, beta=jumping, overwrite=True, rescale=scale), active

    def compute_rounds(self, sub: tg.Subgraph, values: Tensor, most: int) -> tuple[Tensor, int] | None:
        return super().compute_rounds(sub, values, most) if self.blocks == 1 else None

    def residual(self, before: Tensor, after: Tensor) -> Tensor | float:
        change = super().residual(before, after)
        return change * inverse(self.walk.total(after)) if self.scaled else change

    def finish(self, values: Tensor) -> Tensor:
        return values * inverse(wide(values).sum()) if self.scaled else values

    def followed(self) -> tg.dynamic.LinearSystem | None:
        """The ranks are, up to a factor, the solution of x = damping * received + jump (see `personalized.py`). None
        for a number of rounds, for a damping of 1, and for a personalization by ids: give a tensor."""
        if self.tolerance is None or self.damping == 1 or isinstance(self.personalization, Mapping):
            return None
        jump: Tensor | float = 1.0
        if self.personalization is not None:
            jump = wide(torch.as_tensor(self.personalization))
        return tg.dynamic.LinearSystem(
            alpha=self.damping,
            bias=jump,
            weighted=self.weighted,
            scaled="sum" if self.redistribute else "bias",
            factor=1.0 if self.redistribute else 1 - self.damping,
            tolerance=self.tolerance,
            max_iterations=100 if self.max_iterations is None else self.max_iterations,
            dtype=self.dtype,
        )

    def shares(self, graph: tg.Graph) -> Tensor:
        """The share of its rank that each vertex sends along an arc of weight 1, [n]; 0 where no arcs leave.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> tg.algorithms.PageRank().shares(graph)
        tensor([0.5000, 1.0000, 0.0000])
        """
        leaving = fitted(strength(self, graph, "mul" if self.weighted else "copy"), self.dtype)
        return leaving.sign().div_(leaving.clamp(min=torch.finfo(leaving.dtype).tiny))

    def to_final_sum(self, rank: Tensor) -> Tensor | float:
        """The factor of `rank` for which it has the sum of the ranks that Gauss-Seidel ends with.

        A power iteration makes a sum s into 1 - damping + damping * (s - lost), and leaves that of its fixpoint.

        >>> program = tg.algorithms.PageRank()
        >>> rank, active = program.init(tg.generators.path(2))
        >>> program.to_final_sum(rank)
        tensor(1., dtype=torch.float64)
        """
        total = self.walk.total(rank)
        if self.damping < 1:
            total = total + self.damping / (1 - self.damping) * self.walk.dangling_mass(rank)
        return inverse(total)

    def destination(self, graph: tg.Graph) -> Tensor | float:
        """Where a jump leads: probabilities [n], or 1/n. Raises ArgumentError for a personalization that is none.

        >>> graph = tg.generators.path(3)
        >>> tg.algorithms.PageRank().destination(graph)
        0.3333333333333333
        >>> tg.algorithms.PageRank(personalization={1: 3.0, 2: 1.0}).destination(graph)
        tensor([0.0000, 0.7500, 0.2500])
        """
        wanted = self.personalization
        if wanted is None:
            return 1 / max(graph.num_vertices, 1)
        if isinstance(wanted, Mapping):
            weights = wide(torch.zeros(graph.num_vertices, device=graph.device))
            weights[graph.index(list(wanted))] = weights.new_tensor(list(wanted.values()))
        else:
            weights = wide(torch.as_tensor(wanted, device=graph.device))
        tg.primitives.weights.check_numbers("personalization", weights, "measures")
        if weights.shape != (graph.num_vertices,) or not 0 < weights.sum() < math.inf:
            raise tg.errors.ArgumentError(
                f"personalization: expected [{graph.num_vertices}] weights with a finite sum, not all zero"
            )
        return (weights / weights.sum()).to(torch.promote_types(self.dtype, torch.float32))


def pagerank(
    graph: tg.Graph,
    *,
    damping: float | Tensor = 0.85,
    tol: float | None = 1e-6,
    max_iterations: int = 100,
    personalization: Tensor | Mapping[Any, float] | None = None,
    dangling: str = "redistribute",
    weighted: bool = False,
    dtype: torch.dtype = torch.float32,
    method: str = "power",
    **options: Any,
) -> Tensor:
    """PageRank of every vertex, [n], which sums to 1 (unless dangling="ignore").

    The parameters are those of `PageRank`; `options` go to `tgraph.run`. A `personalization` [n, k] gives the ranks of
    k surfers at once, [n, k], until `tol` is met for each; by "gauss-seidel", which holds the whole graph in memory,
    several times as fast. Gradients by weights, damping and a personalization that is a tensor are those of the ranks
    at which iterations end, without the iterations (`tgraph.primitives.implicit`), or with tol=None those of the
    rounds. Ranks are kept in `dtype`, sums are taken in float64. Raises NotConvergedError, with the ranks so far, where
    `tol` is not met within `max_iterations`; ArgumentError for arguments out of range.

    >>> graph = tg.Graph.from_edges([0, 2, 3, 1], [1, 1, 1, 3], vertices=["ann", "bob", "eve", "joe"])
    >>> ranks = tg.algorithms.pagerank(graph)
    >>> ranks.round(decimals=3)
    tensor([0.0380, 0.4800, 0.0380, 0.4450])
    >>> [name for name, rank in graph.top(ranks, 2)]
    ['bob', 'joe']
    """
    several = isinstance(personalization, Tensor) and personalization.dim() == 2
    columns = {"power": PersonalizedPageRank, "gauss-seidel": SolvedPageRank}
    made = partial(
        columns[method] if several and method in columns else partial(PageRank, method=method),
        tol=tol,
        max_iterations=max_iterations,
        dangling=dangling,
        weighted=weighted,
        dtype=dtype,
    )
    wanted = wants(weights_of(graph, weighted), damping, personalization)
    if tol is None or not wanted or not graph.num_vertices:
        return tg.run(made(damping=damping, personalization=personalization), graph, **options).values

    def solve(graph: tg.Graph, **given: Any) -> Tensor:
        return tg.run(made(**given), graph, **options).values

    fixed, jump = PageRank(dtype=dtype), personalization
    if not isinstance(jump, Tensor):
        fixed.personalization = jump
        jump = torch.as_tensor(fixed.destination(graph), dtype=dtype, device=graph.device).expand(graph.num_vertices)
    own = None if wants(weights_of(graph, weighted)) else strength(fixed, graph, "mul" if weighted else "copy")
    step = partial(_step, own, dangling == "redistribute")
    return solved(graph, weighted, tol, solve, step, damping=damping, personalization=jump)


def _step(
    out: Tensor | None,
    redistribute: bool,
    received: Any,
    rank: Tensor,
    weights: Tensor | None,
    damping: Tensor | float,
    personalization: Tensor,
) -> Tensor:
    """One power iteration by differentiable operations; `out` is the out-strength [n], None for that of the weights."""
    if out is None:
        out = received(torch.ones_like(rank[:, 0] if rank.dim() > 1 else rank), reverse=True)
    out = out.to(rank.dtype).reshape(-1, *[1] * (rank.dim() - 1))
    jump = (personalization / personalization.sum(0)).to(rank.dtype)
    jumping: Tensor | float = 1 - damping
    if redistribute:
        jumping = jumping + damping * rank.masked_fill(out != 0, 0).sum(0)
    arrived = received(rank * torch.where(out == 0, 0, 1 / torch.where(out == 0, 1, out)))
    return (damping * arrived + jumping * jump).to(rank.dtype)
