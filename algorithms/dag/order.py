"""Orders of a directed graph without cycles, and the cycle of one that has some.

The vertices that no arc leads to are the first generation; without these, others are the next (Kahn, "Topological
sorting of large networks", 1962). The generation of a vertex is the number of arcs of the longest path that ends there.
What is left when no vertex is free has an arc from the rest to each vertex: following these back leads onto a cycle.
O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def topological_generations(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The generation of each vertex, int64 [n]: 0 where no arc leads to, and every arc leads to a later one.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.
    """
    generation = tg.primitives.topological.generations(graph, backend=backend)
    cycle = _cycle_behind(graph, generation)
    if len(cycle):
        shown = ", ".join(map(str, cycle[:8].tolist())) + (", ..." if len(cycle) > 8 else "")
        raise tg.errors.ArgumentError(
            f"graph: it has a cycle, of vertices {shown}; condensation(graph) has none, find_cycle(graph) gives it"
        )
    return generation


def topological_sort(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The vertices in an order in which every arc leads forward, int64 [n]: by generation, then by index.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.
    """
    generation = topological_generations(graph, backend=backend)
    return tg.primitives.level_accumulate.levels(generation)[0].to(torch.int64) if len(generation) else generation


def is_dag(graph: tg.Graph, *, backend: str = "auto") -> bool:
    """True for a directed graph without cycles; a self-loop is one.

    `backend` names the kernels.
    """
    return graph.directed and bool((tg.primitives.topological.generations(graph, backend=backend) >= 0).all())


def find_cycle(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The vertices of a cycle in the order of its arcs, the smallest first, int64 [k]; empty where there is none.

    Raises ArgumentError for an undirected graph.
    `backend` names the kernels.
    """
    return _cycle_behind(graph, tg.primitives.topological.generations(graph, backend=backend))


def _cycle_behind(graph: tg.Graph, generation: Tensor) -> Tensor:
    """A cycle among the vertices of no generation: back along their smallest in-neighbours, from the smallest."""
    left = generation < 0
    if not bool(left.any()):
        return generation.new_empty(0)
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    before = tg.aggregate(graph, vertex.masked_fill(~left, graph.num_vertices), "min").cpu().numpy()
    place: dict[int, int] = {}
    v = int(left.nonzero()[0])
    while v not in place:
        place[v] = len(place)
        v = int(before[v])
    cycle = list(place)[place[v] :][::-1]
    first = cycle.index(min(cycle))
    return torch.tensor(cycle[first:] + cycle[:first], device=graph.device)
