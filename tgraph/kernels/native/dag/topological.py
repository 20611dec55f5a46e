"""Topological generations, longest paths and arcs that these replace by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.dag import topological as topological_operators
from tgraph.kernels.operators.dag import transitive as transitive_operators

_WEIGHTS = (torch.int32, torch.int64, torch.float32, torch.float64)


def refuses_longest(graph: Graph, weights: Tensor | None, generation: Tensor) -> str | None:
    """Why a graph or its weights are not supported, None if they are."""
    if reason := refuses_wide_graph(graph):
        return reason
    if weights is not None and weights.dtype not in _WEIGHTS:
        return f"it has no kernel for weights of {weights.dtype}"
    if weights is not None and (weights.requires_grad or not weights.is_cpu):
        return "it records no gradients"
    return None


@implements(topological_operators.topological_levels, refuses_wide_graph)
def topological_levels(graph: Graph) -> Tensor:
    return count_in_order(graph)[0]


def count_in_order(graph: Graph) -> tuple[Tensor, int]:
    """The generations, and how many vertices are in one: fewer than all where there is a cycle."""
    number = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    return number, compiled().topological_levels(graph.offset, graph.neighbors, graph.in_degree, number)


@implements(topological_operators.has_cycle, refuses_wide_graph)
def has_cycle(graph: Graph) -> bool:
    """By a search of some arcs, and where that gives up, by all of them."""
    found = compiled().probe_cycle(graph.offset, graph.neighbors)
    return count_in_order(graph)[1] < graph.num_vertices if found < 0 else bool(found)


@implements(topological_operators.longest, refuses_longest)
def longest(graph: Graph, weights: Tensor | None, generation: Tensor) -> tuple[Tensor, Tensor]:
    floating = weights is not None and weights.is_floating_point()
    length = torch.empty(graph.num_vertices, dtype=torch.float64 if floating else torch.int64, device="cpu")
    before = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    order = generation.argsort(stable=True)
    compiled().longest(graph.offset, graph.neighbors, weights, order, length, before)
    return length, before


@implements(transitive_operators.replaced_arcs, refuses_wide_graph)
def replaced_arcs(graph: Graph, generation: Tensor) -> Tensor:
    reverse = graph.transpose_detached()
    replaced = torch.zeros(graph.num_arcs, dtype=torch.bool, device="cpu")
    compiled().replaced_arcs(reverse.offset, reverse.neighbors, generation.argsort(stable=True), replaced)
    return replaced
