"""Communities by the kernels in `move.cpp` and `contract.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first, refuses_graph
from tgraph.kernels.operators.community import communities as declared
from tgraph.kernels.quotient import Moves, Quotient


@implements(declared.move_vertices, refuses_graph)
def move_vertices(
    graph: Quotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves
) -> tuple[Tensor, int]:
    held = community.to(graph.neighbors.dtype, copy=True)
    held_bound, held_batch = (None if each is None else each.to(held.dtype) for each in (bound, batch))
    quotient = graph.offset, graph.neighbors, graph.weights, graph.out_strength, graph.in_strength
    rule = moves.key, moves.sweeps, moves.batches, moves.tolerance
    moved = compiled().move(*quotient, moves.scale, moves.stirred_share, held, held_bound, held_batch, *rule)
    return held.to(torch.int64), moved


@implements(declared.contract_groups, refuses_graph)
def contract_groups(graph: Quotient, group: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    dtype, kernels = graph.neighbors.dtype, compiled()
    contraction = kernels.Contraction32 if dtype == torch.int32 else kernels.Contraction64
    found = contraction(graph.offset, graph.neighbors, graph.weights, group.to(dtype), count)
    offset = torch.empty(count + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(found.num_arcs, dtype=dtype, device="cpu")
    weights = torch.empty(found.num_arcs, dtype=torch.float64, device="cpu")
    found.write(offset, neighbors, weights)
    return offset, neighbors, weights


@implements(declared.number_groups, refuses_first)
def number_groups(label: Tensor) -> tuple[Tensor, Tensor]:
    group, first = torch.empty_like(label), torch.empty_like(label)
    count = compiled().number_groups(label, group, first)
    return group, first[:count].clone()


@implements(declared.sum_inside, refuses_first)
def sum_inside(offset: Tensor, neighbors: Tensor, weights: Tensor | None, group: Tensor, loops: float) -> Tensor:
    inside = torch.empty(len(group), dtype=torch.float64, device="cpu")
    compiled().sum_inside(offset, neighbors, weights, group.to(neighbors.dtype), loops, inside)
    return inside
