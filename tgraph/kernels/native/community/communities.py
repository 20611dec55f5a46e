"""Communities by the kernels in `move.cpp` and `contract.cpp`, and label propagation."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_first, refuses_graph
from tgraph.kernels.native.cohesion.peeling import sides
from tgraph.kernels.operators.community import communities as communities_operators
from tgraph.kernels.operators.community import label_propagation as label_propagation_operators
from tgraph.kernels.quotient import Moves, Quotient


@implements(communities_operators.move_vertices, refuses_graph)
def move_vertices(
    graph: Quotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves
) -> tuple[Tensor, int]:
    held = community.to(graph.neighbors.dtype, copy=True)
    held_bound, held_batch = (None if each is None else each.to(held.dtype) for each in (bound, batch))
    quotient = graph.offset, graph.neighbors, graph.weights, graph.out_strength, graph.in_strength
    rule = moves.key, moves.sweeps, moves.batches, moves.tolerance
    moved = compiled().move(*quotient, moves.scale, moves.stirred_share, held, held_bound, held_batch, *rule)
    return held.to(torch.int64), moved


@implements(communities_operators.contract_groups, refuses_graph)
def contract_groups(graph: Quotient, group: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    dtype, kernels = graph.neighbors.dtype, compiled()
    contraction = kernels.Contraction32 if dtype == torch.int32 else kernels.Contraction64
    found = contraction(graph.offset, graph.neighbors, graph.weights, group.to(dtype), count)
    offset = torch.empty(count + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(found.num_arcs, dtype=dtype, device="cpu")
    weights = torch.empty(found.num_arcs, dtype=torch.float64, device="cpu")
    found.write(offset, neighbors, weights)
    return offset, neighbors, weights


@implements(communities_operators.number_groups, refuses_first)
def number_groups(label: Tensor) -> tuple[Tensor, Tensor]:
    group, first = torch.empty_like(label), torch.empty_like(label)
    count = compiled().number_groups(label, group, first)
    return group, first[:count].clone()


@implements(communities_operators.sum_inside, refuses_graph)
def sum_inside(graph: Graph, group: Tensor, weighted: bool) -> Tensor:
    inside, weights = torch.empty(len(group), dtype=torch.float64, device="cpu"), graph.weights if weighted else None
    loops, group = 1.0 if graph.directed else 2.0, group.to(graph.neighbors.dtype)
    compiled().sum_inside(graph.offset, graph.neighbors, weights, group, loops, inside)
    return inside


@implements(label_propagation_operators.vote, refuses_graph)
def vote(graph: Graph, labels: Tensor, rounds: int) -> Tensor:
    """The labels int64 [n], vertex indices, after so many rounds of taking the most frequent one of the neighbours."""
    held = labels.to(graph.neighbors.dtype, copy=True)
    compiled().vote(*sides(graph), held, torch.empty_like(held), rounds)
    return held.to(torch.int64)
