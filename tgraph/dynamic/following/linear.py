"""Linear systems that follow the changes of a store, such as PageRank: a batch changes the residual of x at the ends of
its arcs, and the largest residuals are pushed on until the tolerance is met.

The value that a vertex sends along each arc, x[u] / strength[u], is unchanged when arcs of u come or go: x[u] changes
instead, and with it the residual of u alone, not that of all its neighbours (Zhang, Lofgren and Goel, "Approximate
personalized PageRank on dynamic graphs", KDD 2016). Where x is scaled to sum 1, jumps from vertices without arcs are
the same for all vertices, a mere factor: x is solved without them, on any number of vertices (Del Corso, Gulli and
Romani, "Fast PageRank computation via a sparse linear system", 2005).

With alpha below 1 and `divided`, the values are within tolerance * alpha / (1 - alpha) of the exact ones (L1), as those
of iterations that end at the tolerance. Rounding errors of batches add up, in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.dynamic.following.declared import LinearSystem
from tgraph.dynamic.following.follower import LEAST, Follower, FromNothing, with_room
from tgraph.dynamic.following.graph import FollowedGraph
from tgraph.dynamic.runs import Arcs, Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.engine.state import Run as Result
from tgraph.errors import ArgumentError, NotConvergedError
from tgraph.kernels.following import Report, Residuals
from tgraph.model.program import Program
from tgraph.primitives.linear import AffineMap

SHARE = 32  # an iteration over all arcs is cheaper than to push along this fraction of them
CANCELLED = 1e-6  # a sum of weights that a batch reduces to less than this fraction is not trusted


class FollowedSystem(Follower):
    """The solution of a linear system. program : whose `init` checks each graph; None for none."""

    def __init__(self, system: LinearSystem, program: Program | None, store: Store):
        super().__init__(store)
        self._system, self._program = system, program
        self._residuals: Residuals | None = None
        self._x = torch.empty(0, dtype=torch.float64)  # [n and more], as the next two
        self._strength = self._x  # sums of the weights of rows
        self._degree = torch.empty(0, dtype=torch.int64)
        self._total = 0.0  # the sum of x
        self._result: Tensor | None = None
        self._graph: tuple[Arcs, Graph] | None = None  # of the CSR alone

    # ---- from nothing ----------------------------------------------------------------------------------------------

    def _compute(self, version: Version, graph: Graph) -> None:
        self._arcs = self._residuals = self._result = self._graph = None
        system, n = self._system, graph.num_vertices
        if self._program is not None:
            self._program.init(graph)  # raises for an unsuitable graph
        if isinstance(system.bias, Tensor) and system.bias.shape != (n,):
            raise ArgumentError(f"bias: expected one for each vertex, [{n}], got {list(system.bias.shape)}")
        weights = graph.weights if system.weighted else None
        self._degree = graph.out_degree.clone()
        self._strength = self._degree.to(torch.float64)
        if weights is not None:
            rows = sorting.expand_rows(graph.offset)
            self._strength = torch.zeros(n, dtype=torch.float64).index_add_(0, rows, weights.to(torch.float64))
        self._x, residual = self._solved(graph, weights)
        self._total, self._n = float(self._x.sum()), n
        self._arcs = FollowedGraph(version, self._store.directed, weights is not None, records=True)
        self._residuals = Residuals(self._arcs.rows)
        self._residuals.load(residual)

    def _solved(self, graph: Graph, weights: Tensor | None) -> tuple[Tensor, Tensor]:
        """x and its residual, by iterations over all arcs."""
        system, n = self._system, graph.num_vertices
        scale = torch.where(self._strength > 0, 1 / self._strength, 0) if system.divided else None
        edge = "copy" if weights is None else "mul"
        wide = None if weights is None else weights.detach().to(torch.float64)
        step = AffineMap(scale=scale, bias=self._wide_bias(), edge=edge, weights=wide)
        x = torch.zeros(n, dtype=torch.float64) + self._wide_bias()
        return self._iterated(x, lambda x: step.step(graph, x, alpha=system.alpha))

    def _iterated(self, x: Tensor, step: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """x and its residual, within the bound, from an x [n] on."""
        system, n, size = self._system, len(x), 0.0
        fixed, relative = self._bound(n)
        for _ in range(system.max_iterations + 1):
            after = step(x)
            if system.scaled == "sum":  # x is multiplied by the factor that makes the residual sum to 0
                given = self._bias_sum(n)
                lost = float(x.sum()) - float(after.sum()) + given
                factor = given / lost if lost > 0 else 1.0
                x, after = x * factor, (after - self._wide_bias()) * factor + self._wide_bias()
            residual = after - x
            size = float(residual.abs().sum())
            if size <= fixed + relative * float(x.sum()):
                return x.clone(), residual
            x = after
        values = Result(x.clone(), system.max_iterations, False, size)
        raise NotConvergedError(f"no convergence in {system.max_iterations} iterations", values, size)

    def _wide_bias(self) -> Tensor | float:
        bias = self._system.bias
        return bias.to(torch.float64) if isinstance(bias, Tensor) else float(bias)

    def _bound(self, n: int) -> tuple[float, float]:
        """Bound of the residual: a constant, and a fraction of the sum of x."""
        system = self._system
        tolerance = system.tolerance * (n if system.per_vertex else 1) * (system.alpha if system.divided else 1)
        if system.scaled == "sum":
            return 0.0, tolerance / system.factor
        if system.scaled == "bias":
            return tolerance / system.factor * self._bias_sum(n), 0.0
        return tolerance / (system.factor if system.scaled is None else 1), 0.0

    def _bias_sum(self, n: int) -> float:
        bias = self._system.bias
        return float(bias.sum()) if isinstance(bias, Tensor) else n * bias

    # ---- batches ---------------------------------------------------------------------------------------------------

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        arcs, residuals, system = self._arcs, self._residuals, self._system
        assert arcs is not None and residuals is not None
        self._result = None
        self._grow(version.num_vertices)
        report = arcs.advance(version, runs)
        if self._graph is not None and self._graph[0] is not arcs.base:
            self._graph = None
        if arcs.weighted:
            weights = arcs.new_weights(runs, report)
            if not bool(((weights >= 0) & (weights < torch.inf)).all()):
                raise FromNothing("the program is asked about new weights")
        vertices, amounts = self._turned(report) if system.divided else self._added(report)
        residuals.add(vertices, amounts, self._n)
        met, self._total, pushes, _ = residuals.push(
            self._x,
            self._strength if system.divided else None,
            system.alpha,
            self._total,
            self._bound(self._n),
            system.scaled == "sum",
            max(len(version.base.neighbors) // SHARE, LEAST),
        )
        if not met:
            self._iterate(arcs, residuals)
            return self._n
        return pushes

    def _iterate(self, arcs: FollowedGraph, residuals: Residuals) -> None:
        """Iterate over all arcs: those of the CSR, and the changes since."""
        system, n, base = self._system, self._n, arcs.base
        offset = base.offset
        if len(offset) < n + 1:
            offset = torch.cat((offset, offset.new_full((n + 1 - len(offset),), len(base.neighbors))))
        weights = arcs.weights_of(base.data)
        if (known := self._graph) is None or known[0] is not base or known[1].num_vertices != n:
            csr = Csr.unchecked(offset, base.neighbors, None, n, weights)
            known = self._graph = base, Graph.of_storage(csr, None, self._store.directed)
        edge = "copy" if weights is None else "mul"
        wide = None if weights is None else weights.to(torch.float64)
        step = AffineMap(bias=self._wide_bias(), edge=edge, weights=wide)
        source, target, more = arcs.since_base()
        more = system.alpha * more
        strength = self._strength[:n]
        share = torch.where(strength > 0, 1 / strength, 0) if system.divided else None

        def stepped(x: Tensor) -> Tensor:
            sent = x if share is None else x * share
            return step.step(known[1], sent, alpha=system.alpha).index_add_(0, target, more * sent[source])

        x, residual = self._iterated(self._x[:n], stepped)
        self._x[:n] = x
        self._total = float(x.sum())
        residuals.load(residual)

    def _grow(self, n: int) -> None:
        if n == self._n:
            return
        bias = self._system.bias
        if isinstance(bias, Tensor):
            raise FromNothing("the bias is for another number of vertices")
        self._x, self._strength, self._degree = (
            with_room(column, n) for column in (self._x, self._strength, self._degree)
        )
        self._x[self._n : n], self._strength[self._n : n], self._degree[self._n : n] = bias, 0, 0
        self._total += bias * (n - self._n)
        self._n = n

    def _added(self, report: Report) -> tuple[Tensor, Tensor]:
        """The vertices and amounts that a batch adds to the residuals, where x goes along each arc."""
        more = report.sum_after - report.sum_before
        return report.targets, self._system.alpha * self._x[report.sources] * more

    def _turned(self, report: Report) -> tuple[Tensor, Tensor]:
        """As `_added`, where x is divided among the arcs: the value sent along an arc stays, and x changes."""
        source, place = torch.unique_consecutive(report.sources, return_inverse=True)
        degree, x, before = self._degree[source], self._x[source], self._strength[source]
        degree.index_add_(0, place, report.after - report.before)
        after = before.index_add(0, place, report.sum_after - report.sum_before)
        after[degree == 0] = 0
        if self._system.weighted and bool(((after < CANCELLED * before) & (degree > 0)).any()):
            raise FromNothing("sums of weights cancel")
        sent = torch.where(before > 0, x / before, 0)
        now = torch.where((before > 0) & (after > 0), sent * after, x)
        sends = torch.where(after > 0, now / after, 0)
        self._degree[source], self._strength[source], self._x[source] = degree, after, now
        self._total += float((now - x).sum())
        more = self._system.alpha * (sends[place] * report.sum_after - sent[place] * report.sum_before)
        return torch.cat((source, report.targets)), torch.cat((x - now, more))

    # ---- results ---------------------------------------------------------------------------------------------------

    def _finished(self) -> Tensor:
        if self._result is None:
            system, x = self._system, self._x[: self._n]
            divisor = 1.0
            if system.scaled == "sum":
                divisor = self._total
            elif system.scaled == "bias":
                divisor = self._bias_sum(self._n)
            elif system.scaled == "norm":
                divisor = float(torch.linalg.vector_norm(x))
            result = torch.empty(self._n, dtype=system.dtype)
            self._result = torch.mul(x, system.factor / divisor if divisor else 1.0, out=result)
        return self._result

    def _nbytes(self) -> int:
        own = self._x.nbytes + self._strength.nbytes + self._degree.nbytes
        own += 0 if self._result is None else self._result.nbytes
        return own + (0 if self._residuals is None else self._residuals.nbytes)
