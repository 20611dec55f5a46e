"""Electric currents, for centralities: the graph as a network of resistors, and its potentials.

A current of one in at a vertex u, spread evenly over all vertices out, gives the potentials x with L x = e_u - 1 / n,
where L is the Laplacian: sums of conductances on its diagonal, less the conductance of each edge. Those of mean 0 are
column u of the pseudo-inverse of L.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg

DENSE = 3000  # vertices up to which the pseudo-inverse is computed
AT_ONCE = 1 << 22  # values of the potentials of a group
MOST_SPREAD = 1e12  # of conductances, and of eigenvalues: beyond it an inverse has lost more than twelve digits


def network(graph: tg.Graph, weighted: bool) -> tuple[tg.Graph, float]:
    """(the simple graph with its conductances, float64, their unit): weights, the unit being near the largest, those of
    parallel edges added, or the number of these.

    Raises ArgumentError for a directed graph, one that is not connected, and weights that are not above zero, or the
    largest of which is more than 10^12 times the least.
    """
    tg.primitives.simple_graph.refuse_directed(graph)
    arcs = graph.decoded()
    if weighted and arcs.weights is None:
        raise tg.errors.ArgumentError("weighted: the graph has no weights; leave weighted=False")
    if weighted:
        tg.primitives.weights.check(graph, "conductances", "conductances")
        if graph.weight_range[0] * MOST_SPREAD < graph.weight_range[1]:
            raise _too_far_apart(*graph.weight_range)
    weights, unit = torch.ones(graph.num_arcs, dtype=torch.float64, device=graph.device), 1.0
    if weighted and arcs.weights is not None:
        unit = tg.primitives.weights.unit(graph)
        weights = arcs.weights.to(torch.float64) / unit
    held = tg.Graph.from_csr(arcs.offset, arcs.neighbors, weights, directed=False)
    label = tg.algorithms.wcc(graph)
    apart = (label != 0).nonzero()
    if len(apart):
        raise tg.errors.ArgumentError(
            f"graph: it is not connected, no current flows between vertices 0 and {int(apart[0])}; take a component "
            "by induced_subgraph(graph, (wcc(graph) == 0).nonzero().flatten())"
        )
    return tg.primitives.simple_graph.simple(held, "sum"), unit


def pseudo_inverse(net: tg.Graph) -> Tensor:
    """The pseudo-inverse of the Laplacian, float64 [n, n], by (L + s J)^-1 - J / s, where all entries of J are 1 / n,
    and s is the mean conductance of a vertex: as large as what it is added to."""
    n = net.num_vertices
    assert net.weights is not None
    held = conductance(net)
    scale = float(held.detach().mean()) or 1.0
    matrix = torch.full((n, n), scale / max(n, 1), dtype=torch.float64, device=net.device)
    matrix.index_put_(tuple(net.to_edge_index()), -net.weights, accumulate=True)
    matrix.diagonal().add_(held)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    inverse = matrix if int(failed) else torch.cholesky_inverse(factor)
    if int(failed) or (n and not float((held.max() * inverse.diagonal().max()).detach()) < MOST_SPREAD):
        raise _too_far_apart(*net.weight_range)
    rest = 1 / (scale * max(n, 1))
    return inverse - rest if inverse.requires_grad else inverse.sub_(rest)


def _too_far_apart(least: float, largest: float) -> tg.errors.ArgumentError:
    return tg.errors.ArgumentError(
        f"weights: from {least:.3g} to {largest:.3g} they lie too far apart to be computed with; bring them nearer"
    )


def conductance(net: tg.Graph) -> Tensor:
    """The sum of the conductances at each vertex, [n]."""
    one = torch.ones(net.num_vertices, dtype=torch.float64, device=net.device)
    return tg.aggregate(net, one, "sum", edge="mul")


def potentials(net: tg.Graph, current: Tensor, tol: float) -> Tensor:
    """The potentials [n, k] of mean 0 for k currents that go in and out, [n, k], by conjugate gradients.

    Each is divided by the conductance at its vertex first (Jacobi's preconditioner); a step is one pass over the arcs
    for all k. It ends where what is left of each current is at most `tol` of it, in norm, those that are so far resting
    meanwhile; NotConvergedError is raised where rounding does not let it. Gradients by the conductances are of the
    potentials, by solving for currents again: x = x - C (L x - current), in which C = L^-1 solves and is held fixed.
    """
    weights = net.weights
    if not tg.primitives.implicit.is_recorded(weights):
        return _conjugate_gradients(net, current, tol)
    assert weights is not None
    fixed = net.weighted_by(weights.detach())

    def step(x: Tensor, weights: Tensor) -> Tensor:
        degree = _received(fixed, torch.ones_like(x[:, :1]), weights)
        return x - x.mean(0) - _Solved.apply(fixed, degree * x - _received(fixed, x, weights) - current, tol, True)

    return tg.primitives.implicit.fixpoint(
        lambda _: _Solved.apply(fixed, current, tol, False), step, weights, tolerance=tol
    )


class _Solved(torch.autograd.Function):
    """The potentials of currents, which are linear in them and symmetric; `settled` currents are 0 up to `tol`."""

    @staticmethod
    def forward(net: tg.Graph, current: Tensor, tol: float, settled: bool) -> Tensor:
        return torch.zeros_like(current) if settled else _conjugate_gradients(net, current, tol)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.net, _, ctx.tol, _ = inputs

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, None, None]:
        return None, _Solved.apply(ctx.net, grad, ctx.tol, False), None, None


def _received(net: tg.Graph, x: Tensor, weights: Tensor) -> Tensor:
    return tg.aggregate(net, x, "sum", edge="mul", weights=weights)


def _conjugate_gradients(net: tg.Graph, current: Tensor, tol: float) -> Tensor:
    """The same without gradient."""
    degree = conductance(net)[:, None]
    left = current - current.mean(0)
    x = torch.zeros_like(left)
    wanted = tol * torch.linalg.vector_norm(current, dim=0)
    step = left / degree
    energy = (left * step).sum(0)
    direction = step
    steps = 10 * net.num_vertices + 10
    for _ in range(steps):
        moving = torch.linalg.vector_norm(left, dim=0) > wanted
        if not bool(moving.any()):
            return x - x.mean(0)
        flow = degree * direction - tg.aggregate(net, direction, "sum", edge="mul")
        length = torch.where(moving, energy / (direction * flow).sum(0), 0)
        x += length * direction
        left = left - length * flow
        step = left / degree
        energy, before = (left * step).sum(0), energy
        direction = step + torch.where(moving, energy / before, 0) * direction
    residual = float((torch.linalg.vector_norm(left, dim=0) / wanted.clamp(min=1e-300)).max()) * tol
    raise tg.errors.NotConvergedError(
        f"tol: {residual:.3g} of a current is left after {steps} steps, the tolerance is {tol:g}; allow more, or take "
        'method="dense"',
        tg.Run(x, steps, False, residual),
        residual,
    )


def use_dense(net: tg.Graph, method: str) -> bool:
    """Whether `method`, "dense", "cg" or "auto", asks for the pseudo-inverse. Raises ArgumentError for another."""
    if method not in ("auto", "dense", "cg"):
        raise tg.errors.ArgumentError(f"method: {method!r} is not one of 'auto', 'dense', 'cg'")
    return method == "dense" or (method == "auto" and net.num_vertices <= DENSE)
