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
    """Generation of every vertex, the most arcs of a path to it: int64 [n], 0 where no arc leads to, and every arc
    leads to a later one.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.

    >>> tg.algorithms.topological_generations(tg.Graph.from_edges([3, 3, 1, 2], [1, 2, 0, 0]))
    tensor([2, 1, 1, 0])
    """
    generation = tg.primitives.topological.generations(graph, backend=backend)
    cycle = _cycle_behind(graph, generation)
    if len(cycle):
        shown = ", ".join(str(graph.ids(v)) for v in cycle[:8].tolist()) + (", ..." if len(cycle) > 8 else "")
        raise tg.errors.ArgumentError(
            f"graph: it has a cycle, of vertices {shown}; condensation(graph) has none, find_cycle(graph) gives it"
        )
    return generation


def topological_sort(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Topological order of the vertices, in which every arc leads forward: int64 [n], by generation, then by index.

    Raises ArgumentError for an undirected graph, and for one with a cycle, which it names.
    `backend` names the kernels.

    >>> tg.algorithms.topological_sort(tg.Graph.from_edges([3, 3, 1, 2], [1, 2, 0, 0]))
    tensor([3, 1, 2, 0])
    """
    generation = topological_generations(graph, backend=backend)
    return tg.primitives.level_accumulate.levels(generation)[0].to(torch.int64) if len(generation) else generation


def is_dag(graph: tg.Graph, *, backend: str = "auto") -> bool:
    """True for a directed graph without cycles; a self-loop is one.

    `backend` names the kernels.

    >>> tg.algorithms.is_dag(tg.Graph.from_edges([0, 0, 1], [1, 2, 2]))
    True
    >>> tg.algorithms.is_dag(tg.Graph.from_edges([0, 1], [1, 0]))
    False
    """
    return graph.directed and not tg.primitives.topological.has_cycle(graph, backend=backend)


def find_cycle(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Cycle of arcs: its vertices in order, the smallest first, int64 [k]; empty where there is none.

    A self-loop is one; in an undirected graph two parallel edges are, too, but no edge there and back.
    `backend` names the kernels.

    >>> tg.algorithms.find_cycle(tg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1]))
    tensor([1, 2, 3])
    """
    if not graph.directed:
        return _undirected_cycle(graph, backend)
    return _cycle_behind(graph, tg.primitives.topological.generations(graph, backend=backend))


def _cycle_behind(graph: tg.Graph, generation: Tensor) -> Tensor:
    """A cycle among the vertices of no generation: back along their smallest in-neighbours, from the smallest."""
    left = generation < 0
    if not bool(left.any()):
        return generation.new_empty(0)
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    least = tg.aggregate(graph, vertex.masked_fill(~left, graph.num_vertices), "min")
    before = tg.primitives.values.whole(least).cpu().numpy()
    place: dict[int, int] = {}
    v = int(left.nonzero()[0])
    while v not in place:
        place[v] = len(place)
        v = int(before[v])
    return _from_smallest(torch.tensor(list(place)[place[v] :][::-1], device=graph.device))


def _undirected_cycle(graph: tg.Graph, backend: str) -> Tensor:
    """The first edge that a spanning forest does without, and the path of the forest between its ends."""
    graph = graph.decoded()
    source = torch.arange(graph.num_vertices, device=graph.device).repeat_interleave(graph.out_degree)
    loop = source[source == graph.neighbors][:1]
    if len(loop):
        return loop
    chosen = tg.primitives.spanning_forest.spanning_forest(graph, None)
    spare = source < graph.neighbors
    ends = torch.stack((source[chosen], graph.neighbors[chosen].to(torch.int64)))
    if int(spare.sum()) == len(chosen):
        return chosen.new_empty(0)
    # Of parallel edges the forest may have chosen an arc of either direction: count what it has between two vertices.
    low, high = ends.min(0)[0], ends.max(0)[0]
    key, edge = low * graph.num_vertices + high, source * graph.num_vertices + graph.neighbors
    repeated = spare & (torch.nn.functional.pad(edge, (1, 0), value=-1)[:-1] == edge)
    position = int((spare & (repeated | ~torch.isin(edge, key))).nonzero()[0])
    forest = tg.Graph.from_edges(low, high, num_vertices=graph.num_vertices, directed=False)
    first, last = int(source[position]), int(graph.neighbors[position])
    return _from_smallest(tg.algorithms.shortest_path(forest, first, last, backend=backend))


def _from_smallest(cycle: Tensor) -> Tensor:
    return cycle.roll(-int(cycle.argmin()))
