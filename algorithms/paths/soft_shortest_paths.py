"""Smoothed shortest paths: all walks from a source count, the shorter ones more.

    distance[v] = -T log (sum over walks to v of exp(-length / T)),

which falls to the shortest distance as the temperature T falls to 0, and whose gradient by a weight is how often a walk
takes the arc, where walks are drawn by exp(-length / T) (Saerens, Achbany, Fouss and Yen, "Randomized shortest-path
problems", Neural Computation 2009). A fixpoint of logsumexp: O(m) for each iteration.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths._sources import Source, start_at

FAR = -1e30  # of which exp is 0, and whose gradient is, too


class SoftShortestPaths(tg.Program):
    """-distance / T of every vertex, [n], or [n, k] for k sources; see `soft_shortest_paths`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 2.0, 1.0])
    >>> tg.run(tg.algorithms.SoftShortestPaths(0, 1.0), graph).values
    tensor([ 0.0000, -1.0000, -1.3069], dtype=torch.float64)
    """

    def __init__(self, source: Source, temperature: float, *, tol: float = 1e-6, max_iterations: int = 10_000):
        if not 0 < temperature < torch.inf:
            raise tg.errors.ArgumentError(f"temperature: must be positive and finite, got {temperature}")
        self.source, self.temperature = source, temperature
        self.tolerance, self.max_iterations = tol, max_iterations

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        tg.primitives.weights.check(graph, "numbers", "smoothed lengths")
        dtype = torch.promote_types(graph.weight_dtype or torch.int64, torch.float32)
        far, _ = start_at(graph, self.source, -torch.inf, dtype)
        self.start = far == 0
        return far, graph.everything()

    def compute(self, sub: tg.Subgraph, values: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        return _after_an_arc(sub.graph, values, self.start, sub.graph.decoded().weights, self.temperature), active

    def residual(self, before: Tensor, after: Tensor) -> Tensor | float:
        change = (after - before).masked_fill(after == before, 0).abs()
        return change.max() if change.numel() else 0.0


def _after_an_arc(
    graph: tg.Graph, values: Tensor, start: Tensor, weights: Tensor | None, temperature: Tensor | float
) -> Tensor:
    """The values after one more arc, by differentiable operations, 0 where a source starts."""
    length = torch.ones(graph.num_arcs, dtype=values.dtype, device=values.device) if weights is None else weights
    sent = values.masked_fill(values == -torch.inf, FAR)
    edge_weights = (-length / temperature).to(values.dtype)
    arrived = tg.aggregate(graph, sent, "logsumexp", edge="add", weights=edge_weights)
    return arrived.masked_fill(arrived < FAR / 2, -torch.inf).masked_fill(start, 0)


def soft_shortest_paths(
    graph: tg.Graph,
    source: Source,
    *,
    temperature: float | Tensor = 1.0,
    tol: float = 1e-6,
    max_iterations: int = 10_000,
    **options: Any,
) -> Tensor:
    """Smoothed shortest distances from `source` to every vertex: -T log of the sum of exp(-length / T) over all walks
    that leave the source and do not return to it, [n], or [n, k] for k sources; inf where unreached.

    In the dtype of the weights, at least float32; without weights each arc is 1 long. `temperature`, T above 0, a
    number or a tensor []; `tol`, stop once no value changes by more than this times T; `max_iterations`, the most until
    then; `options` go to `tgraph.run`.
    Gradients by weights and temperature are those of the solution, of any order. Raises NotConvergedError where walks
    around a cycle outweigh their length: use a lower temperature; ArgumentError for a weight that is not finite, or a
    temperature that is not above 0.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 2.0, 1.0])
    >>> tg.algorithms.soft_shortest_paths(graph, 0, temperature=0.1).round(decimals=3)
    tensor([-0.0000, 1.0000, 1.9310], dtype=torch.float64)
    """
    weights, arcs = graph.decoded().weights, graph.decoded()
    plain = arcs.weighted_by(None)
    fixed = torch.as_tensor(temperature, device=graph.device)
    given = (fixed,) if weights is None else (fixed, weights)
    program: Any = None

    def solve(temperature: Tensor, weights: Tensor | None = None) -> Tensor:
        nonlocal program
        program = SoftShortestPaths(source, temperature.item(), tol=tol, max_iterations=max_iterations)
        return tg.run(program, plain if weights is None else plain.weighted_by(weights), **options).values

    def step(x: Tensor, temperature: Tensor, weights: Tensor | None = None) -> Tensor:
        return _after_an_arc(plain, x, program.start, weights, temperature)

    found = tg.primitives.implicit.fixpoint(solve, step, *given, tolerance=tol)
    unreached = found == -torch.inf
    return (-found.masked_fill(unreached, 0) * fixed.to(found.dtype)).masked_fill(unreached, torch.inf)
