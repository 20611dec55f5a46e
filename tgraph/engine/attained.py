"""Gradients of a relaxation, along the paths that attain its values: where each vertex takes its value from one arc,

    value[v] = edge(value[parent[v]], weight[arc[v]]),

it is the first value at the root of its path and the weights on it, combined by the edge operation, and nothing else
changes it (Danskin, "The theory of max-min", 1967). Of several paths of the same value it is one of the fewest arcs,
and of these that whose last arc is stored first, as is each before it: a subgradient.

The operations are associative, so paths are combined by pointer jumping: twice as many arcs in each round, O(m) to find
the paths and O(n log l) for paths of l arcs, in torch operators with derivatives of any order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.engine.state import Run
from tgraph.errors import ArgumentError
from tgraph.kernels.messages import EDGE_OPERATIONS
from tgraph.model.program import Program, Relaxation
from tgraph.primitives.implicit import is_recorded, without_gradient

IDENTITY = {"add": 0.0, "mul": 1.0, "min": torch.inf, "max": -torch.inf}


def recorded_weights(program: Program, graph: Graph) -> Tensor | None:
    """The weights [m] of a relaxation that require a gradient, None where it has none."""
    if not isinstance(program, Relaxation) or program.edge == "copy" or graph.layout is not None:
        return None
    weights = graph.weights if program.weight is None else program.weight_of(graph)
    return weights if isinstance(weights, Tensor) and is_recorded(weights) else None


def run_recorded(run: Callable[..., Run], relaxation: Relaxation, graph: Graph, weights: Tensor, **options: Any) -> Run:
    """The `run` of a relaxation, its values with gradients by the `weights` [m]."""
    weights = weights.expand(graph.num_arcs) if not weights.dim() else weights
    runs: list[Run] = []
    rounds = [0]  # that pointer jumping takes

    def solve(weights: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        program, given = copy.copy(relaxation), graph
        if relaxation.weight is None:
            given = graph.weighted_by(weights)
        else:
            program.weight = weights
        program.finish = lambda values: values  # type: ignore[method-assign]
        runs.append(run(program, given, **options))
        first, values = program.init(given)[0], runs[-1].values
        parent, arc, longest = _paths(run, relaxation, given, weights, first, values)
        rounds[0] = max(rounds[0], longest.bit_length())
        return values, first, parent, arc

    values, first, parent, arc = without_gradient(solve, weights)
    combined = _combined(first, parent, arc, weights.to(values.dtype), relaxation.edge, rounds[0])
    result = copy.copy(runs[-1])
    result.values = relaxation.finish(_With.apply(values, combined))
    return result


class _With(torch.autograd.Function):
    """The first tensor, with the gradient of the second, which is equal but for rounding."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, combined: Tensor) -> Tensor:
        return values.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        return None, grad


class _Hops(Relaxation):
    """The fewest arcs from the roots, -1 where there is no path."""

    weight = 1

    def __init__(self, is_root: Tensor):
        self.is_root = is_root

    def init(self, graph: Graph) -> tuple[Tensor, Frontier]:
        far = torch.full(self.is_root.shape, graph.num_vertices, dtype=torch.int64, device=graph.device)
        return far.masked_fill_(self.is_root, 0), graph.select(self.is_root.nonzero().flatten())


def _paths(
    run: Callable[..., Run], relaxation: Relaxation, graph: Graph, weights: Tensor, first: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, int]:
    """(parent, arc, arcs of the longest path) of each vertex and problem, int64 as the values: n and m where a value is
    a first one."""
    shape, n = values.shape, graph.num_vertices
    first, values = first.reshape(n, -1), values.reshape(n, -1)
    problems = zip(first.unbind(1), values.unbind(1), strict=True)
    trees = [_tree(run, relaxation, graph, weights, *problem) for problem in problems]
    if not trees:
        empty = torch.empty(shape, dtype=torch.int64, device=values.device)
        return empty, empty.clone(), 0
    parents, arcs, longest = zip(*trees, strict=True)
    return torch.stack(parents, 1).reshape(shape), torch.stack(arcs, 1).reshape(shape), max(longest)


def _tree(
    run: Callable[..., Run], relaxation: Relaxation, graph: Graph, weights: Tensor, first: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, int]:
    """(parent, arc, arcs of the longest path) of one problem, [n]."""
    n, m, row = graph.num_vertices, graph.num_arcs, sorting.expand_rows(graph.offset)
    sent = values.index_select(0, row)
    tight = EDGE_OPERATIONS[relaxation.edge](sent, weights.to(values.dtype)) == values.index_select(0, graph.neighbors)
    tight &= sent != relaxation.reduction.identity(values.dtype)
    places = tight.nonzero().flatten()
    u, v = row.index_select(0, places), graph.neighbors.index_select(0, places).to(torch.int64)
    attained = Graph(offset_of(torch.bincount(u, minlength=n)), v.to(graph.neighbors.dtype))
    hops = run(_Hops(values == first), attained).values
    if bool((hops == n).any()):
        vertex = graph.ids(int((hops == n).nonzero()[0]))
        raise ArgumentError(
            f"weights: no path attains the value of vertex {vertex!r}, so that it has no gradient; let the relaxation "
            "run until nothing changes (rounds = None), or detach the weights"
        )
    nearer = hops[u] + 1 == hops[v]
    arc = torch.full((n,), m, device=values.device).scatter_reduce(0, v[nearer], places[nearer], "amin")
    parent, below = torch.full_like(arc, n), (arc < m).nonzero().flatten()
    parent[below] = row.index_select(0, arc[below]).to(torch.int64)
    return parent, arc, int(hops.max()) if n else 0


def _combined(first: Tensor, parent: Tensor, arc: Tensor, weights: Tensor, edge: str, rounds: int) -> Tensor:
    """The first values and the weights on each path, combined by the edge operation, as the values."""
    shape, n = first.shape, first.shape[0]
    first, parent, arc = (each.reshape(n, -1) for each in (first, parent, arc))
    columns = parent.shape[1]
    end = first.new_full((1, columns), IDENTITY[edge])
    outside = parent.new_full((1, columns), n)
    known = torch.cat((weights, weights.new_zeros(1)))[arc.reshape(-1)].reshape(n, columns)
    total = torch.cat((torch.where(parent == n, first, known), end))
    parent = torch.cat((parent, outside))
    for _ in range(rounds):
        total = _joined(total, total.gather(0, parent), edge)
        parent = parent.gather(0, parent)
    return total[:n].reshape(shape)


def _joined(near: Tensor, far: Tensor, edge: str) -> Tensor:
    """Both parts of a path; of equal weights the one nearer to its end takes the gradient."""
    if edge in ("add", "mul"):
        return EDGE_OPERATIONS[edge](near, far)
    return torch.where(near <= far if edge == "min" else near >= far, near, far)
